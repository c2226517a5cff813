import { bool, string } from '../../../lib/cel/types.ts';
import type { Type } from '../../../lib/cel/types.ts';
import type { Value } from '../../../lib/cel/values.ts';
import { readUserAgent } from '../../../lib/user-agent.ts';
import type { UserAgent } from '../../../lib/user-agent.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { firstOf } from './header-values.ts';
import type { Variables } from './variable.ts';

function userAgentOf(visit: PolicyVisit): UserAgent {
  const headers = visit.headersWith('user-agent');
  return visit.cached('user-agent.read', headers, () => {
    visit.spend(200);
    return readUserAgent(firstOf(headers, 'user-agent') ?? '');
  });
}

function field(name: keyof UserAgent, type: Type) {
  return { type, isSure: true, get: (visit: PolicyVisit): Value => userAgentOf(visit)[name] } as const;
}

export const userAgentVariables: Variables = {
  'req.user_agent.name': field('name', string),
  'req.user_agent.version': field('version', string),
  'req.user_agent.os': field('os', string),
  'req.user_agent.os_version': field('os_version', string),
  'req.user_agent.device': field('device', string),
  'req.user_agent.url': field('url', string),
  'req.user_agent.is_mobile': field('is_mobile', bool),
  'req.user_agent.is_tablet': field('is_tablet', bool),
  'req.user_agent.is_desktop': field('is_desktop', bool),
  'req.user_agent.is_bot': field('is_bot', bool),
};
