import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';

import { onGatehousesInTurn } from '../../test/support/shared-gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import { mostJsonInOneTurn } from '../../test/support/turns.ts';
import type { Queries } from '../store/database.ts';
import { httpsEdgeRoutes } from './edges/https/table.ts';
import { tcpEdges } from './edges/tcp/table.ts';
import { cloudEndpoints } from './endpoints/table.ts';

const count = 5;
/** A policy of the largest size, each of whose characters needs two in a document. */
const policy = JSON.stringify({
  on_http_request: [
    { actions: [{ type: 'custom-response', config: { status_code: 200, body: '"'.repeat(120_000) } }] },
  ],
});
const modules = { traffic_policy: { enabled: true, value: policy } };
/** A statement reads 256 KiB, and the last document of it may be as long again and more. */
const mostCharacters = 1_500_000;

onGatehousesInTurn('documents of the largest size', (g) => {
  test('are listed, exported and told of in slices', async () => {
    const account = await createAccount(g());
    const { token } = await createUser(g(), 'admin', account);
    const { id } = await g().create('/edges/https', {}, { token });
    const actor = { id: 'host', accountId: account, operationId: '' };
    await g().app.context.store.write(actor, async (transaction) => {
      for (let at = 0; at < count; at++) {
        const first = cloudEndpoints.newDocument(account);
        const endpoint = { url: `https://long-${at}.internal`, traffic_policy: policy, pooling_enabled: false };
        await cloudEndpoints.insert(transaction, {
          ...first,
          ...endpoint,
          bindings: ['internal'],
          updated_at: first.created_at,
        });
        await tcpEdges.insert(transaction, { ...tcpEdges.newDocument(account), hostports: [], modules });
        const route = { edge_id: id, match_type: 'path_prefix', match: `/${at}`, modules } as const;
        await httpsEdgeRoutes.insert(transaction, { ...httpsEdgeRoutes.newDocument(account), ...route });
      }
    });
    const filter = encodeURIComponent('obj.type == "cloud"');
    const paths = [
      '/endpoints?limit=100',
      `/endpoints?limit=100&filter=${filter}`,
      '/edges/tcp?limit=100',
      `/edges/https/${id}`,
      `/edges/https/${id}/routes?limit=100`,
      '/edges/https?limit=100',
      '/changes?limit=100',
      '/configuration',
    ];
    const { queries }: { queries: { all: Queries['all'] } } = g().app.context.store;
    const all = queries.all.bind(queries);
    let atOnce = 0;
    queries.all = async (...given) => {
      const rows = await all(...given);
      atOnce = Math.max(atOnce, rows.flat().join('').length);
      return rows;
    };
    for (const path of paths) {
      let bytes = 0;
      const most = await mostJsonInOneTurn(async () => {
        bytes = await read(new URL(path, g().url), token);
      });
      assert.ok(bytes > count * 480_000, `${path}: ${bytes} bytes`);
      assert.ok(most < mostCharacters, `${path}: ${most} characters in one turn`);
    }
    queries.all = all;
    assert.ok(atOnce < mostCharacters, `${atOnce} characters in one statement`);
  });
});

/** Reads an answer, of which nothing is parsed here. */
function read(url: URL, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'service-version': '2' };
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    })
      .on('error', reject)
      .end();
  });
}
