import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mostInOneTurn } from '../../../../test/support/turns.ts';
import type { HttpsEdgeEntry, RouteEntry } from '../../../snapshot/contract.ts';
import { HostTable } from './host-table.ts';

const count = 50_000;

test('the routes of an edge are built a few in each turn of the event loop', async () => {
  const table = new HostTable();
  const most = await mostInOneTurn(async (item) => {
    const routes = Array.from({ length: count }, (_, at): RouteEntry => {
      const read = () => item(`/${at}`);
      return {
        id: `r${at}`,
        matchType: 'path_prefix',
        get match() {
          return read();
        },
        modules: {},
      };
    });
    const edge = { kind: 'https_edge', id: 'e', accountId: 'a', hostports: ['e.test:443'], routes } as const;
    const swap = await table.prepare({ version: 1, full: true, set: [edge], removed: [] }, assert.ifError);
    swap();
  });
  assert.ok(most < count / 4, `${most} routes in one turn`);
  assert.notEqual(table.find('e.test')?.routes.choose('/49999'), undefined);
});

test('edges that share a name are all found by it, whatever its ports, and those of other accounts take it over', async () => {
  const table = new HostTable();
  const edge = { kind: 'https_edge', accountId: 'a', routes: [], isPooled: true } as const;
  const put = async (...set: readonly HttpsEdgeEntry[]) => {
    const swap = await table.prepare({ version: 1, full: false, set, removed: [] }, assert.ifError);
    swap();
    return table.all('e.test').map(({ id, ports }) => [id, ...ports]);
  };
  assert.deepEqual(await put({ ...edge, id: 'one', hostports: ['e.test:443'] }), [['one', 443]]);
  const shared = [
    ['one', 443],
    ['more', 443, 8443],
  ];
  const hostports = ['f.test:443', 'e.test:8443', 'f.test:8443'];
  assert.deepEqual(await put({ ...edge, id: 'more', hostports }), shared);
  assert.deepEqual(await put({ ...edge, id: 'plain', hostports: ['e.test:80'], plain: 'only' }), shared);
  assert.deepEqual(
    table.allPlain('e.test').map(({ id, ports }) => [id, ...ports]),
    [['plain', 80]],
  );
  assert.deepEqual(await put({ ...edge, id: 'other', accountId: 'b', hostports: ['e.test:443'] }), [['other', 443]]);
});
