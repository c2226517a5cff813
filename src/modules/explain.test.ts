import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseIp } from '../lib/ip/address.ts';
import { explain } from './explain.ts';
import { AccessTable } from '../snapshot/access.ts';
import { namedParts } from './index.ts';
import { oidc } from './oidc/index.ts';
import { trafficPolicy } from './traffic-policy/index.ts';

const visitor = { source: parseIp('192.0.2.1')!, person: undefined };
const login = oidc.accept({ issuer: 'https://id.example.com', client_id: 'c', client_secret: 's' });

const everybody = { allows: () => true, denies: () => false };

function wordsOf(settings: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return explain(namedParts(settings), visitor, everybody).map(({ module, word }) => [module, word] as const);
}

test('a step that needs to know more is never told to pass, and one that changes nothing but the way is not told', () => {
  const settings = {
    ip_restriction: { enabled: true, ip_policy_ids: ['ipp_1'] },
    oidc: { ...login, client_secret: 'open' },
    user_agent_filter: { enabled: true, allow: [], deny: ['x'] },
    redirect: { enabled: true, to: '/', status_code: 302, keep_path: false },
    basic_auth: { enabled: false, credentials: [] },
  };
  assert.deepEqual(wordsOf(settings), [
    ['ip_restriction', 'passes'],
    ['user_agent_filter', 'depends'],
    ['oidc', 'depends'],
  ]);
});

test('a module that cannot be built lets nobody in, unless it is switched off', () => {
  assert.deepEqual(wordsOf({ oidc: login }), [['oidc', 'unloadable']]);
  assert.deepEqual(wordsOf({ oidc: { ...login, enabled: false } }), []);
});

test('a policy that admits a range unless an IP policy denies it asks the rules in force', () => {
  const table = new AccessTable();
  const value = JSON.stringify({
    on_tcp_connect: [
      { actions: [{ type: 'restrict-ips', config: { allow: ['192.0.2.0/24'], ip_policies: ['ipp_1'] } }] },
    ],
  });
  const parts = namedParts({ traffic_policy: trafficPolicy.accept({ value }) });
  // An IP policy that is not there denies.
  assert.deepEqual(
    explain(parts, visitor, table).map(({ word }) => word),
    ['refuses'],
  );
});
