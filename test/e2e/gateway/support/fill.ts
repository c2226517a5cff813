import { pino } from 'pino';

import { readConfig } from '../../../../src/config/config.ts';
import { openContext } from '../../../../src/start/open-context.ts';
import { hostnames, httpsEdgeRoutes, httpsEdges } from '../../../../src/resources/edges/https/table.ts';
import { syncReferences } from '../../../../src/resources/edges/module-fields.ts';
import { bootstrap } from '../../../../src/resources/principals/service.ts';
import type { ResourceContext } from '../../../../src/resources/resource.ts';
import { staticBackends } from '../../../../src/resources/static-backends/table.ts';
import type { Transaction } from '../../../../src/store/write/transaction.ts';
import { programToken } from './program.ts';

const edgesAtOnce = 2500;

/**
 * Fills an empty database with HTTPS edges of the first account, each with one route to the backend. It uses the tables
 * of the resources, as thousands of calls would take too long.
 */
export async function fillEdges(databaseUrl: string, count: number, upstreamPort: number): Promise<void> {
  const config = readConfig({}, { databaseUrl });
  const context = await openContext(config, pino({ level: 'silent' }));
  try {
    await context.services.get(bootstrap).run(programToken);
    const [user] = await context.store.queries.all('SELECT id, account_id FROM users');
    const actor = { id: String(user?.[0]), accountId: String(user?.[1]), operationId: '' };
    const backend = await context.store.write(actor, (transaction) =>
      staticBackends.insert(transaction, {
        ...staticBackends.newDocument(actor.accountId),
        address: `127.0.0.1:${upstreamPort}`,
        tls: { enabled: false },
      }),
    );
    for (let from = 0; from < count; from += edgesAtOnce) {
      await context.store.write(actor, async (transaction) => {
        for (let at = from; at < Math.min(count, from + edgesAtOnce); at++) {
          await fillEdge(context, transaction, filledHost(at), backend.id);
        }
      });
    }
  } finally {
    await context.store[Symbol.asyncDispose]();
  }
}

export function filledHost(at: number): string {
  return `host-${at}.filled.test`;
}

async function fillEdge(
  context: ResourceContext,
  transaction: Transaction,
  hostname: string,
  backendId: string,
): Promise<void> {
  const { accountId } = transaction.actor;
  const hostport = `${hostname}:443`;
  const edge = await httpsEdges.insert(transaction, {
    ...httpsEdges.newDocument(accountId),
    hostports: [hostport],
    modules: {},
  });
  await hostnames.replace(transaction, edge, [], [{ key: hostname, hostport }]);
  const backend: { readonly enabled: boolean; readonly backend_id: string } = { enabled: true, backend_id: backendId };
  const route = await httpsEdgeRoutes.insert(transaction, {
    ...httpsEdgeRoutes.newDocument(accountId),
    edge_id: edge.id,
    match_type: 'path_prefix',
    match: '/',
    modules: { backend },
  });
  await syncReferences(transaction, context, 'https_route', route);
}
