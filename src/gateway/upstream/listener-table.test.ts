import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseIp } from '../../lib/ip/address.ts';
import type { SnapshotEntry, SnapshotUpdate, TcpEdgeEntry } from '../../snapshot/contract.ts';
import { ListenerTable } from './listener-table.ts';
import { OwnAddresses } from './own-addresses.ts';

const inward = { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: 'here' };

function newTable(): { table: ListenerTable; found: (port: number) => string | undefined; grown: () => number } {
  const table = new ListenerTable(inward, new OwnAddresses());
  const loopback = parseIp('127.0.0.1');
  assert.ok(loopback);
  let grown = 0;
  table.onGrowth(() => grown++);
  return { table, found: (port) => table.find(loopback, port), grown: () => grown };
}

function edge(id: string, ...ports: readonly number[]): TcpEdgeEntry {
  return { kind: 'tcp_edge', id, accountId: 'acc_1', ports, modules: {} };
}

function update(set: readonly SnapshotEntry[], removed: SnapshotUpdate['removed'] = [], full = false): SnapshotUpdate {
  return { version: 1, full, set, removed };
}

test('the port of a TCP edge is known before it can be opened, and until it is closed', () => {
  const { table, found, grown } = newTable();
  const swap = table.prepare(update([edge('a', 10_001)]));
  assert.equal(found(10_001), 'tcp', 'prepared');
  assert.equal(grown(), 1, 'open connections are looked at before it is in force');
  swap();
  assert.equal(found(10_001), 'tcp', 'in force');
  const remove = table.prepare(update([], [{ kind: 'tcp_edge', id: 'a' }]));
  assert.equal(found(10_001), 'tcp', 'still in force');
  remove();
  assert.equal(found(10_001), undefined);
});

test('an update that was given up leaves nothing behind once another one is prepared', () => {
  const { table, found } = newTable();
  table.prepare(update([edge('a', 10_001)]));
  table.prepare(update([edge('b', 10_002)]))();
  assert.deepEqual([found(10_001), found(10_002)], [undefined, 'tcp']);
});

test('a port that moves from one edge to another stays known, and a full snapshot replaces all', () => {
  const { table, found } = newTable();
  table.prepare(update([edge('a', 10_001), edge('b', 10_002)]))();
  table.prepare(update([edge('a', 10_002), edge('b', 10_001)]))();
  table.prepare(update([], [{ kind: 'tcp_edge', id: 'a' }]))();
  assert.deepEqual([found(10_001), found(10_002)], ['tcp', undefined]);
  table.prepare(update([edge('c', 10_003)], [], true))();
  assert.deepEqual([found(10_001), found(10_003)], [undefined, 'tcp']);
});

test('a listener whose port the system has chosen is known from then on', () => {
  const { table, found, grown } = newTable();
  assert.equal(found(40_000), undefined);
  table.add('https', 40_000);
  assert.equal(found(40_000), 'https');
  assert.equal(grown(), 1);
});

test('an address that a process advertises for a listener leads there, on any machine', () => {
  const { table } = newTable();
  const links = {
    kind: 'links',
    host: '10.0.0.5',
    port: 4444,
    advertised: { host: '203.0.113.9', port: 9000 },
  } as const;
  const running = { kind: 'running_process', id: 'proc_1', networkId: 'there', addresses: ['10.0.0.5'] } as const;
  table.prepare(update([{ ...running, listeners: [links] }]))();
  const [nat, own] = [parseIp('203.0.113.9'), parseIp('10.0.0.5')];
  assert.ok(nat && own);
  assert.deepEqual([table.find(nat, 9000), table.find(own, 4444)], ['links', 'links']);
  assert.deepEqual([table.find(nat, 4444), table.find(own, 9000)], [undefined, undefined]);
});
