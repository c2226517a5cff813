import assert from 'node:assert/strict';
import { test } from 'node:test';

import { wideBounds } from '../../../test/gateway/support/bounds.ts';
import { proxiesKey } from '../../lib/ip/source-key.ts';
import { BackendSources } from './backend-sources.ts';

function start(bounds: Partial<typeof wideBounds>) {
  const sources = new BackendSources({ ...wideBounds, ...bounds });
  const called: string[] = [];
  const enqueue = (source: string, name: string) => sources.enqueue(source, () => called.push(name));
  return { sources, called, enqueue };
}

test('sources take turns, and requests of one keep their order', () => {
  const { sources, called, enqueue } = start({});
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) enqueue(name.charAt(0), name);
  while (sources.hasTurn) sources.callNext();
  assert.deepEqual(called, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  assert.equal(sources.waiting, 0);
});

test('a source at its bound has no turn until a connection of it is free', () => {
  const { sources, called, enqueue } = start({ backendSourceConnections: 1 });
  sources.count('a', 1);
  assert.deepEqual([sources.mayUse('a'), sources.mayUse('b')], [false, true]);
  enqueue('a', 'a1');
  assert.equal(sources.hasTurn, false);
  sources.count('a', -1);
  assert.equal(sources.hasTurn, true);
  sources.callNext();
  assert.deepEqual(called, ['a1']);
  sources.count(proxiesKey, 1);
  assert.equal(sources.mayUse(proxiesKey), true);
});

test('so many wait in all and of one source, and whoever leaves makes room', () => {
  const { sources, enqueue } = start({ backendQueue: 3, backendSourceQueue: 2 });
  const leaving = (): void => {};
  assert.equal(sources.enqueue('a', leaving), undefined);
  assert.equal(enqueue('a', 'a2'), undefined);
  assert.equal(enqueue('a', 'a3'), 'backend_source_queue');
  assert.equal(enqueue('b', 'b1'), undefined);
  assert.equal(enqueue('c', 'c1'), 'backend_queue');
  assert.deepEqual([sources.mostWaiting(), sources.waiting], [2, 3]);
  sources.leaveQueue('a', leaving);
  sources.leaveQueue('a', leaving);
  assert.equal(sources.waiting, 2);
  assert.equal(enqueue('a', 'a3'), undefined);
});
