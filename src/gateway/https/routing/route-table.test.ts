import assert from 'node:assert/strict';
import { test } from 'node:test';

import { finishNow } from '../../../lib/steps.ts';
import type { ModuleSettings, RouteEntry } from '../../../snapshot/contract.ts';
import { RouteTable } from './route-table.ts';

const breaker = { enabled: true, error_threshold: 0.5 };

function tableOf(byMatch: Readonly<Record<string, ModuleSettings>>, before?: RouteTable): RouteTable {
  const entries = Object.entries(byMatch).map(([match, modules]): RouteEntry => ({
    id: match,
    matchType: 'path_prefix',
    match,
    modules,
  }));
  return finishNow(RouteTable.of(entries, before));
}

function backendTo(id: string, more: ModuleSettings = {}): ModuleSettings {
  return { backend: { enabled: true, backend_id: id }, ...more };
}

test('routes with equal modules share their steps, whatever their backends, and keep apart what these remember', () => {
  const circuit_breaker = breaker;
  const table = tableOf({
    '/a': backendTo('one', { circuit_breaker }),
    '/b': backendTo('other', { circuit_breaker: { ...circuit_breaker } }),
    '/c': backendTo('one', { circuit_breaker: { ...circuit_breaker, error_threshold: 0.1 } }),
    '/d': backendTo('one'),
  });
  const [a, b, c, d] = ['/a', '/b', '/c', '/d'].map((id) => table.withId(id)!);
  assert.equal(a!.list, b!.list);
  assert.deepEqual([a!.backendId, b!.backendId], ['one', 'other']);
  assert.notEqual(a!.kept, b!.kept);
  assert.notEqual(a!.list, c!.list);
  assert.deepEqual([a!.list.stateKeys.length, d!.list.stateKeys.length], [1, 0]);
});

test('what steps remember stays as long as their own settings do', () => {
  const first = tableOf({ '/': { circuit_breaker: breaker } });
  const [key] = first.withId('/')!.list.stateKeys;
  first.withId('/')!.kept.set(key!, 'counted');
  const same = tableOf({ '/': { circuit_breaker: breaker, websocket_tcp_converter: { enabled: true } } }, first);
  assert.equal(same.withId('/')!.kept.get(key!), 'counted');
  const other = tableOf({ '/': { circuit_breaker: { ...breaker, error_threshold: 0.1 } } }, same);
  assert.equal(other.withId('/')!.kept.size, 0);
});
