import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mostInOneTurn } from '../../../../test/support/turns.ts';
import type { RouteEntry } from '../../../snapshot/contract.ts';
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
