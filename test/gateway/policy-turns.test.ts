import assert from 'node:assert/strict';
import { test } from 'node:test';

import { preparePolicies } from '../../src/gateway/prepare-policies.ts';
import type { SnapshotEntry } from '../../src/snapshot/contract.ts';
import { edgeEntry, prefixRoute, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/tcp-engine.ts';
import { countSlices } from '../support/count-slices.ts';

let made = 0;
const rules = 300;
function another(phase: string): string {
  made += 1;
  const list = Array.from({ length: rules }, (_, at) => ({
    expressions: [`conn.client_ip == '${made}-${at}'`],
    actions: [{ type: 'deny' }],
  }));
  return JSON.stringify({ [phase]: list });
}

const entries: Readonly<Record<string, () => SnapshotEntry>> = {
  'an HTTPS edge': () => edgeEntry('e', ['app.test'], [prefixRoute('/', trafficPolicy(another('on_http_request')))]),
  'a TCP edge': () => ({
    kind: 'tcp_edge',
    id: 't',
    accountId: 'a',
    ports: [],
    modules: trafficPolicy(another('on_tcp_connect')),
  }),
  'a TLS edge': () => ({
    kind: 'tls_endpoint',
    id: 'l',
    accountId: 'a',
    names: ['l.test'],
    modules: trafficPolicy(another('on_tcp_connect')),
  }),
  'an internal endpoint': () => ({
    kind: 'internal_endpoint',
    id: 'i',
    accountId: 'a',
    url: 'https://i.internal',
    modules: trafficPolicy(another('on_http_request')),
  }),
};

for (const [name, entry] of Object.entries(entries)) {
  test(`the policy of ${name} is put in force in slices`, async (t) => {
    const { engine, seen } = await startGateway(t);
    const slices = await countSlices(() => engine.apply({ version: 1, full: true, set: [entry()], removed: [] }));
    assert.deepEqual(seen.entryFaults, []);
    assert.ok(slices > rules * 5, `${slices} slices`);
  });
}

test('equal texts are built once', async () => {
  const value = trafficPolicy(another('on_tcp_connect'));
  const edge = (id: string) => ({ kind: 'tcp_edge', id, accountId: 'a', ports: [], modules: value }) as const;
  const slices = await countSlices(() =>
    preparePolicies({ version: 1, full: true, set: [edge('a'), edge('b'), edge('c')], removed: [] }),
  );
  assert.ok(slices < rules * 10, `${slices} slices`);
});
