import { copyFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { readConfig } from '../../src/config/config.ts';
import { chunks } from '../../src/lib/chunks.ts';
import { createLog } from '../../src/log.ts';
import { openContext } from '../../src/start/open-context.ts';
import { apiKeys } from '../../src/resources/api-keys/table.ts';
import { hostnames, httpsEdgeRoutes, httpsEdges } from '../../src/resources/edges/https/table.ts';
import { syncReferences } from '../../src/resources/edges/module-fields.ts';
import type { StoredModules } from '../../src/resources/edges/module-fields.ts';
import { ipPolicies } from '../../src/resources/ip-policies/table.ts';
import { ruleSetOf } from '../../src/resources/ip-policy-rules/replace/rule-sets.ts';
import { countRules, ipPolicyRules } from '../../src/resources/ip-policy-rules/table.ts';
import { bootstrap } from '../../src/resources/principals/service.ts';
import type { ResourceContext } from '../../src/resources/resource.ts';
import { staticBackends } from '../../src/resources/static-backends/table.ts';
import type { Actor } from '../../src/store/write/change-log.ts';
import type { Transaction } from '../../src/store/write/transaction.ts';
import { cidrNumber } from './addresses.ts';
import { benchToken, newDatabaseFile } from './gatehouse.ts';

/** Numbers of resources to create. */
export interface Amounts {
  readonly keys?: number;
  /** Rules of the policies together; the first one of each lets 127.0.0.0/8 pass. */
  readonly rules?: number;
  /** Policies, of which each edge checks one; default 1. */
  readonly policies?: number;
  /** HTTPS edges, each with one route: backend, request headers and source check. The first one is `localhost`. */
  readonly edges?: number;
  /** Port on this machine that all backends point to. */
  readonly upstreamPort?: number;
}

/** Number of rows that one transaction inserts. */
const rowsAtOnce = 5000;
/** Rows of one statement. */
const rulesAtOnce = 1024;
/** Edges share backends, as services behind one ingress do. */
const backendCount = 100;

const filled = new Map<string, Promise<string>>();

/** Makes a database file for the caller alone, filled through the tables of the resources and not over HTTP. */
export async function filledDatabase(amounts: Amounts): Promise<string> {
  const { upstreamPort, ...rest } = amounts;
  const key = JSON.stringify(rest);
  const original = filled.get(key) ?? fill(rest);
  filled.set(key, original);
  const copy = await newDatabaseFile();
  await copyFile(await original, copy);
  if (upstreamPort !== undefined) pointBackends(copy, upstreamPort);
  return copy;
}

/** Replaces the address `nowhere`, which the cached original has so that it serves every upstream. */
function pointBackends(file: string, upstreamPort: number): void {
  const database = new DatabaseSync(file);
  const sql = 'UPDATE static_backends SET document = replace(document, ?, ?)';
  database.prepare(sql).run(JSON.stringify(nowhere), JSON.stringify(`127.0.0.1:${upstreamPort}`));
  database.close();
}

const nowhere = '127.0.0.1:1';

async function fill(amounts: Amounts): Promise<string> {
  const file = await newDatabaseFile();
  await fillDatabase(`sqlite:${file}`, amounts);
  return file;
}

/** Fills an empty database. Where no upstream is given, backends lead nowhere. */
export async function fillDatabase(databaseUrl: string, amounts: Amounts): Promise<void> {
  const config = readConfig({}, { databaseUrl });
  const context = await openContext(config, createLog('fatal', process.stderr));
  try {
    await context.services.get(bootstrap).run(benchToken);
    const [user] = await context.store.queries.all('SELECT id, account_id FROM users');
    const actor: Actor = { id: String(user?.[0]), accountId: String(user?.[1]), operationId: '' };
    await context.store.writeUnlogged((writer) => writer.run('UPDATE account_usage SET most = 1000000000'));
    await fillKeys(context, actor, amounts.keys ?? 0);
    const policyIds: string[] = [];
    const { policies = 1, rules = 1 } = amounts;
    for (let at = 0; at < policies; at++) policyIds.push(await fillRules(context, actor, Math.ceil(rules / policies)));
    await fillEdges(context, actor, policyIds, amounts);
  } finally {
    // Closing the last connection moves the write-ahead log into the database file.
    await context.store[Symbol.asyncDispose]();
  }
}

function fillKeys({ store }: ResourceContext, actor: Actor, count: number): Promise<void> {
  return inParts(count, (from, to) =>
    store.write(actor, async (transaction) => {
      for (let at = from; at < to; at++) {
        const key = {
          ...apiKeys.newDocument(actor.accountId),
          owner_id: actor.id,
          description: `key ${at}`,
          metadata: keyMetadata,
        };
        await apiKeys.insert(transaction, key, ['0'.repeat(64), null]);
      }
    }),
  );
}

/** Metadata that makes the response for one key about 350 bytes long. */
export const keyMetadata = '{"environment":"production","team":"platform","rotate":"2027-01-01"}';

async function fillRules({ store }: ResourceContext, actor: Actor, count: number): Promise<string> {
  const policy = await store.write(actor, (transaction) =>
    ipPolicies.insert(transaction, ipPolicies.newDocument(actor.accountId)),
  );
  await inParts(count, (from, to) =>
    store.write(actor, async (transaction) => {
      const set = await ruleSetOf(transaction, policy.id);
      const rules = Array.from({ length: to - from }, (_, index) => ({
        ...ipPolicyRules.newDocument(actor.accountId),
        ip_policy_id: policy.id,
        cidr: from + index === 0 ? '127.0.0.0/8' : cidrNumber(from + index),
        action: 'allow' as const,
      }));
      for (const some of chunks(rules, rulesAtOnce)) await ipPolicyRules.insertMany(transaction, some, [set]);
      await countRules(transaction, actor.accountId, rules.length);
      const { id, account_id: accountId } = policy;
      transaction.record({ accountId, kind: ipPolicies.kind, id, before: null, after: null, cascades: true });
    }),
  );
  return policy.id;
}

async function fillEdges(
  context: ResourceContext,
  actor: Actor,
  policyIds: readonly string[],
  { edges = 0, upstreamPort }: Amounts,
): Promise<void> {
  const address = upstreamPort === undefined ? nowhere : `127.0.0.1:${upstreamPort}`;
  const backendIds = await context.store.write(actor, async (transaction) => {
    const ids: string[] = [];
    for (let at = 0; at < Math.min(backendCount, edges); at++) {
      const backend = { ...staticBackends.newDocument(actor.accountId), address, tls: { enabled: false } };
      ids.push((await staticBackends.insert(transaction, backend)).id);
    }
    return ids;
  });
  await inParts(edges, (from, to) =>
    context.store.write(actor, async (transaction) => {
      for (let at = from; at < to; at++) {
        await fillEdge(context, transaction, at, inTurn(policyIds, at), inTurn(backendIds, at));
      }
    }),
  );
}

function inTurn(ids: readonly string[], at: number): string {
  return ids[at % ids.length] ?? '';
}

async function fillEdge(
  context: ResourceContext,
  transaction: Transaction,
  at: number,
  policyId: string,
  backendId: string,
): Promise<void> {
  const { accountId } = transaction.actor;
  const hostname = edgeHost(at);
  const hostport = `${hostname}:443`;
  const edge = await httpsEdges.insert(transaction, {
    ...httpsEdges.newDocument(accountId),
    hostports: [hostport],
    modules: {},
  });
  await hostnames.replace(transaction, edge, [], [{ key: hostname, hostport }]);
  // The settings of each module are beyond this type.
  const modules: StoredModules = Object.fromEntries(
    Object.entries({
      backend: { backend_id: backendId },
      ip_restriction: { ip_policy_ids: [policyId] },
      request_headers: headerChanges,
    }).map(([name, settings]) => [name, { enabled: true, ...settings }]),
  );
  const route = await httpsEdgeRoutes.insert(transaction, {
    ...httpsEdgeRoutes.newDocument(accountId),
    edge_id: edge.id,
    match_type: 'path_prefix',
    match: '/',
    modules,
  });
  await syncReferences(transaction, context, 'https_route', route);
}

/** Header changes that every proxy makes: two request headers added, two removed. */
export const headerChanges = {
  add: { 'x-edge': 'gatehouse', 'x-environment': 'production' },
  remove: ['x-debug', 'x-internal'],
};

export function edgeHost(at: number): string {
  return at === 0 ? 'localhost' : `host-${at}.example.com`;
}

async function inParts(count: number, write: (from: number, to: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += rowsAtOnce) await write(from, Math.min(from + rowsAtOnce, count));
}
