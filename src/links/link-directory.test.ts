import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Listener, ProcessEntry, SnapshotUpdate } from '../snapshot/contract.ts';
import { LinkDirectory } from './link-directory.ts';

const here = 'this machine';
const there = 'another machine';

function running(networkId: string, host: string, more: Partial<Listener> = {}): ProcessEntry {
  const links: Listener = { kind: 'links', host, port: 4444, ...more };
  const own = ['10.0.0.5', '2001:db8::5', 'fe80::5'];
  const agents: Listener = { kind: 'agents', host, port: 4443 };
  return { kind: 'running_process', id: 'proc_1', networkId, addresses: own, listeners: [agents, links] };
}

function update(full: boolean, set: readonly ProcessEntry[], removed: readonly string[] = []): SnapshotUpdate {
  return { version: 1, full, set, removed: removed.map((id) => ({ kind: 'running_process', id })) };
}

function reachedAt(entry: ProcessEntry, networkId = here): readonly string[] | undefined {
  const directory = new LinkDirectory(networkId);
  directory.follow(update(true, [entry]));
  return directory.addressesOf(entry.id)?.map(({ host, port }) => `${host} ${port}`);
}

test('a process is reached at the address that it listens on', () => {
  assert.deepEqual(reachedAt(running(there, '10.0.0.5')), ['10.0.0.5 4444']);
  assert.deepEqual(reachedAt(running(there, 'gateway-a.example.com')), ['gateway-a.example.com 4444']);
});

test('a loopback address is one of the same machine only', () => {
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
    assert.deepEqual(reachedAt(running(here, host)), [`${host} 4444`]);
    assert.deepEqual(reachedAt(running(there, host)), []);
  }
});

test('all addresses: that of the machine itself, or every one that others reach', () => {
  assert.deepEqual(reachedAt(running(here, '0.0.0.0')), ['127.0.0.1 4444']);
  assert.deepEqual(reachedAt(running(here, '::')), ['::1 4444']);
  assert.deepEqual(reachedAt(running(there, '0.0.0.0')), ['10.0.0.5 4444']);
  assert.deepEqual(reachedAt(running(there, '::')), ['10.0.0.5 4444', '2001:db8::5 4444']);
});

test('where the system does not tell machines apart, both are tried', () => {
  assert.deepEqual(reachedAt(running('', '0.0.0.0')), ['127.0.0.1 4444', '10.0.0.5 4444']);
  assert.deepEqual(reachedAt(running(there, '127.0.0.1'), ''), ['127.0.0.1 4444']);
});

test('an address that the process advertises is the only one', () => {
  const advertised = { host: 'nat.example.com', port: 9000 };
  assert.deepEqual(reachedAt(running(there, '0.0.0.0', { advertised })), ['nat.example.com 9000']);
});

test('a process whose port is not known yet, or that has no such listener, has no address', () => {
  assert.deepEqual(reachedAt(running(here, '127.0.0.1', { port: 0 })), []);
  assert.deepEqual(reachedAt({ ...running(here, '127.0.0.1'), listeners: [] }), []);
});

test('a process that ends, or listens elsewhere, is reported as gone, and one that stays is not', () => {
  const directory = new LinkDirectory(here);
  const gone: string[] = [];
  directory.onGone((id) => gone.push(id));
  const first = running(here, '127.0.0.1');
  const second = { ...first, id: 'proc_2' };
  directory.follow(update(true, [first, second]));
  directory.follow(update(false, [{ ...first, listeners: [...first.listeners] }]));
  assert.deepEqual(gone, []);
  directory.follow(update(false, [running(here, '127.0.0.1', { port: 4445 })]));
  assert.deepEqual(gone, ['proc_1']);
  directory.follow(update(false, [], ['proc_2']));
  assert.deepEqual(gone, ['proc_1', 'proc_2']);
  assert.equal(directory.addressesOf('proc_2'), undefined);
  directory.follow(update(true, []));
  assert.deepEqual(gone, ['proc_1', 'proc_2', 'proc_1']);
});
