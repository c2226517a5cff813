import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { createAccount, createUser } from '../../../../test/support/people.ts';
import type { Queries } from '../../../store/database.ts';
import { Services } from '../../services.ts';
import { createSealer } from '../../../lib/sealed-secret.ts';
import { httpsEdgeCompiler } from './compile.ts';
import { routesOf, routesOfMany, routesOfPage } from './route-queries.ts';
import { httpsEdges } from './table.ts';

/** More than two statements read. */
const many = 1_200;

onGatehousesInTurn('edges with many routes and with few', (g) => {
  test('are read, shown, compared and compiled whole, a few routes by each statement', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const edge = (name: string, count: number, description = 'a') => ({
      kind: 'https_edges',
      name,
      hostports: [`${name}.many.example.com:443`],
      routes: Object.fromEntries(Array.from({ length: count }, (_, at) => [`/${at}`, { description }])),
    });
    const counts: Readonly<Record<string, number>> = { one: 3, large: many, none: 0, other: 700, last: 1 };
    const entries = Object.entries(counts).map(([name, count]) => edge(name, count));
    const apply = async (body: unknown) => {
      const { status, body: answer, text } = await g().post('/configuration', body, { token });
      assert.equal(status, 200, text);
      return answer;
    };
    assert.equal((await apply(entries)).created, 5);
    assert.equal((await apply(entries)).unchanged, 5);
    const changed = { ...edge('large', many), routes: { ...edge('large', many).routes, '/7': { description: 'b' } } };
    const { steps } = await apply([changed]);
    assert.deepEqual(steps[0].fields, [{ field: 'routes./7.description', before: 'a', after: 'b' }]);

    const { store } = g().app.context;
    const listed = (await g().get('/edges/https', { token })).body.https_edges;
    const edges = await httpsEdges.loadMany(
      store.queries,
      listed.map(({ id }: { readonly id: string }) => id),
    );
    let most = 0;
    const queries: Queries = {
      async all(sql, parameters) {
        const rows = await store.queries.all(sql, parameters);
        most = Math.max(most, rows.length);
        return rows;
      },
    };
    const nameOf = ({ hostports }: { readonly hostports: readonly string[] }) => hostports[0]?.split('.', 1)[0] ?? '';
    const newestFirst = edges.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const [ofMany, ofPage] = [await routesOfMany(queries, edges), await routesOfPage(queries, newestFirst)];
    const compiled = await httpsEdgeCompiler({ services: new Services(), sealer: createSealer(undefined) }).load(
      queries,
      edges.map(({ id }) => id),
    );
    for (const each of edges) {
      const wanted = await routesOf(queries, each);
      assert.equal(wanted.length, counts[nameOf(each)]);
      assert.deepEqual(ofMany.get(each.id) ?? [], wanted);
      assert.deepEqual(ofPage.get(each.id) ?? [], wanted);
      const shown = listed.find(({ id }: { readonly id: string }) => id === each.id).routes;
      assert.deepEqual(
        shown.map(({ id }: { readonly id: string }) => id),
        wanted.map(({ id }) => id),
      );
      const entry = compiled.find(({ id }) => id === each.id);
      assert.equal(entry?.kind === 'https_edge' && entry.routes.length, wanted.length);
    }
    assert.ok(most <= 512, `${most} rows of one statement`);
  });
});
