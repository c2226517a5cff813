import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawDocument, drawRows } from './table.ts';

const rows = [
  { id: 'edge_1', created_at: '2026-01-01T00:00:00Z', actor: 'a'.repeat(20), kind: 'https', after: 'x'.repeat(48) },
  { id: 'edge_2', created_at: '2026-01-02T00:00:00Z', actor: 'b', kind: 'tcp' },
];

test('a table is as wide as the terminal at most, keeps what tells entries apart, and says what it leaves out', () => {
  for (const width of [20, 40, 60, 80, 100]) {
    const lines = drawRows(rows, width);
    assert.ok(
      lines.slice(0, -1).every((line) => line.length <= width),
      lines.join('\n'),
    );
    assert.match(lines[0] ?? '', /^ID .*KIND/);
    assert.match(lines.at(-1) ?? '', /^\(no room for .*after: -o json has all\)$/);
  }
  assert.deepEqual(drawRows(rows, 200), drawRows(rows));
  assert.equal(drawRows(rows).length, 3);
});

test('of a change, 80 columns show what was done and when, and 120 by whom and to which thing', () => {
  const change = {
    id: 'chg_000000000000009000000',
    version: 9,
    created_at: '2026-11-17T17:08:49Z',
    actor: 'Marta',
    source: '127.0.0.1',
    action: 'create',
    kind: 'tunnel_group_backend',
    resource_id: 'bkdtg_3MF9DPPBYIqMrUIQKthb0U4Hcc0',
  };
  assert.match(drawRows([change], 80)[0] ?? '', /^ID +CREATED AT +ACTION +KIND$/);
  assert.match(drawRows([change], 120)[0] ?? '', /^ID +CREATED AT +ACTOR +ACTION +KIND +RESOURCE ID$/);
});

test('what a gateway sees, where it listens and what a certificate holds is for people', () => {
  const gateways = [
    { gateway_id: 'proc_1', state: 'up' },
    { gateway_id: 'proc_2', state: 'up' },
  ];
  const down = { gateway_id: 'proc_3', state: 'down', cause: 'ECONNREFUSED', failures: 3 };
  assert.deepEqual(drawRows([{ address: 'a:1', gateways: [...gateways, down] }]), [
    'ADDRESS  GATEWAYS',
    'a:1      2 times up, down: ECONNREFUSED',
  ]);
  const listeners = [
    { kind: 'api', address: '127.0.0.1', port: 4040 },
    { kind: 'tcp', address: '::', port: 0 },
  ];
  assert.deepEqual(drawRows([{ listeners, tls: { enabled: true } }]), [
    'LISTENERS                     TLS',
    'api 127.0.0.1:4040, tcp :::0  true',
  ]);
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  assert.deepEqual(drawRows([{ id: 'cert_1', certificate_pem: pem }]), ['ID', 'cert_1']);
});

test('the first column is shown however narrow the terminal is', () => {
  assert.match(drawRows(rows, 3).join('\n'), /^ID\nedge_1\nedge_2\n\(no room/);
});

test('entries in a document have a table of their own, references stand in a line', () => {
  const document = { version: 3, gateways: [{ id: 'proc_1', role: 'all' }], policies: [{ id: 'ipp_1', uri: 'x' }] };
  assert.deepEqual(drawDocument(document), [
    'version   3',
    'policies  ipp_1',
    '',
    'gateways:',
    'ID      ROLE',
    'proc_1  all',
  ]);
});
