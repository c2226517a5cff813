import { Type } from 'typebox';
import type { Static } from 'typebox';

import { userAgentRefused } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { headerValues } from '../header-values.ts';
import { enabledInput, enabledView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import * as errors from './errors.ts';
import { compilePattern, PatternFault } from './pattern.ts';

const patterns = Type.Array(Type.String({ maxLength: 512 }), { maxItems: 64 });

const Input = Type.Object(
  { enabled: enabledInput, allow: Type.Optional(patterns), deny: Type.Optional(patterns) },
  { $id: 'UserAgentFilterModuleReplace', additionalProperties: false },
);

const View = Type.Object(
  { enabled: enabledView, allow: patterns, deny: patterns },
  { $id: 'UserAgentFilterModule', additionalProperties: false },
);

interface UserAgentFilterSettings {
  readonly enabled: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Longest header that is matched; a longer one is refused, because matching takes time. */
const longestAgent = 1024;

/** Refuses requests by `User-Agent`: no pattern of `deny` may match it, and one of `allow` must, where there are any. */
export const userAgentFilter: EdgeModule<Static<typeof Input>, UserAgentFilterSettings> = {
  name: 'user_agent_filter',
  title: 'User Agent Filter',
  targets: ['agent_endpoint'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept({ enabled = true, allow = [], deny = [] }) {
    for (const pattern of [...allow, ...deny]) compile(pattern);
    return { enabled, allow, deny };
  },
  present: (settings) => settings,
  build({ allow, deny }) {
    const [allowed, denied] = [allow.map(compile), deny.map(compile)];
    const admits = (agent: string): boolean =>
      agent.length <= longestAgent &&
      !denied.some((matches) => matches(agent)) &&
      (allowed.length === 0 || allowed.some((matches) => matches(agent)));
    return {
      refuses: (headers) => {
        const agents = headerValues(headers, 'user-agent');
        return (agents.length === 0 ? [''] : agents).every(admits) ? undefined : new UserError(userAgentRefused);
      },
    };
  },
};

function compile(pattern: string): (text: string) => boolean {
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error;
    throw new UserError(errors.unsafePattern, { pattern: quote(pattern), reason: error.message });
  }
}
