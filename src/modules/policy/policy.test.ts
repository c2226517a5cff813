import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { asRun, checkTogether } from '../index.ts';
import type { ModuleTarget } from '../module.ts';
import { policy } from './index.ts';

const deny = { actions: [{ type: 'deny' }] };
const restrict = { actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_1', 'ipp_2'] } }] };

function faultOf(input: object, target: ModuleTarget): string {
  try {
    policy.checkTarget?.(policy.accept(input), target);
  } catch (error) {
    if (error instanceof UserError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

test('directions are phases of the thing that has the rules', () => {
  const settings = policy.accept({ inbound: [deny] });
  const run = (target: ModuleTarget) => asRun({ policy: settings }, target);
  const as = (phase: string) => ({ traffic_policy: { enabled: true, value: JSON.stringify({ [phase]: [deny] }) } });
  assert.deepEqual(run('https_route'), as('on_http_request'));
  assert.deepEqual(run('tcp_edge'), as('on_tcp_connect'));
  assert.deepEqual(run('tls_edge'), as('on_tcp_connect'));
  const both = asRun({ policy: policy.accept({ inbound: [], outbound: [deny] }) }, 'https_route');
  assert.deepEqual(both['traffic_policy'], {
    enabled: true,
    value: JSON.stringify({ on_http_request: [], on_http_response: [deny] }),
  });
});

test('of the two forms one is switched on, and that one is run', () => {
  const other = { enabled: true, value: '{}' };
  const on = policy.accept({ inbound: [deny] });
  const off = policy.accept({ enabled: false, inbound: [deny] });
  assert.throws(() => checkTogether({ policy: on, traffic_policy: other }, 'tcp_edge'), /both switched on/);
  for (const modules of [
    { policy: off, traffic_policy: other },
    { policy: on, traffic_policy: { ...other, enabled: false } },
    { policy: on },
  ])
    checkTogether(modules, 'tcp_edge');
  assert.deepEqual(asRun({ policy: off, traffic_policy: other }, 'tcp_edge'), { traffic_policy: other });
  const { traffic_policy: run } = asRun({ policy: on, traffic_policy: { ...other, enabled: false } }, 'tcp_edge');
  assert.equal(run?.enabled, true);
});

test('faults name the place as it was written', () => {
  const wrong = { actions: [{ type: 'deny', config: { status_code: 1 } }] };
  assert.match(
    faultOf({ inbound: [deny, wrong] }, 'https_route'),
    /^2207 .*comes to inbound\[1\], because inbound\[0\]/,
  );
  assert.match(faultOf({ outbound: [wrong] }, 'https_route'), /^2202 .*at outbound\[0\]\.actions\[0\]/);
  assert.match(faultOf({ inbound: [wrong] }, 'https_route'), /^2215 The number at inbound\[0\]\.actions\[0\]\.config/);
  assert.match(faultOf({ inbound: [{ ...deny, action: [] }] }, 'tcp_edge'), /^2203 .*at inbound\[0\]\.action: /);
  assert.match(faultOf({ outbound: [deny] }, 'tls_edge'), /^2202 /);
  assert.match(faultOf({ outbound: [restrict] }, 'tls_edge'), /^2230 /);
});

test('secrets are named in both directions, and read as those of the thing that has the rules', () => {
  const headers = (name: string) => ({ headers: { key: `\${secrets.get('keys', '${name}')}` } });
  const add = (name: string) => ({ actions: [{ type: 'add-headers', config: headers(name) }] });
  const settings = policy.accept({ inbound: [add('in')], outbound: [add('out')] });
  assert.deepEqual(
    policy.secretsIn?.(settings, 'https_route').map(({ name }) => name),
    ['in', 'out'],
  );
  const certificate = (name: string) => `\${secrets.get('keys', '${name}')}`;
  const config = { server_certificate: certificate('pem'), server_private_key: certificate('key') };
  const tls = policy.accept({ inbound: [{ actions: [{ type: 'terminate-tls', config }] }] });
  assert.deepEqual(
    policy.secretsIn?.(tls, 'tls_edge').map(({ name }) => name),
    ['pem', 'key'],
  );
});

test('IP policies are named in both directions', () => {
  const [reference] = policy.references ?? [];
  const settings = policy.accept({
    inbound: [deny, restrict],
    outbound: [
      { actions: [{ type: 'deny', config: null }] },
      { actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_3'] } }] },
    ],
  });
  assert.deepEqual(reference?.ids(settings), ['ipp_1', 'ipp_2', 'ipp_3']);
});
