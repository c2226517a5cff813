import assert from 'node:assert/strict';

import type { Queries } from '../../../../src/store/database.ts';
import { openDatabase } from '../../../../src/store/open-database.ts';

/** Tables by the kind in the change log. */
const tables: Readonly<Record<string, string>> = {
  account: 'accounts',
  user: 'users',
  bot_user: 'bot_users',
  api_key: 'api_keys',
  ip_policy: 'ip_policies',
  ip_policy_rule: 'ip_policy_rules',
  ip_restriction: 'ip_restrictions',
  static_backend: 'static_backends',
  tcp_edge: 'tcp_edges',
};

interface Document {
  readonly id: string;
  readonly ip_policy_id?: string;
  readonly ip_policy_ids?: readonly string[];
  readonly hostports?: readonly string[];
  readonly modules?: {
    readonly backend?: { readonly backend_id: string };
    readonly ip_restriction?: { readonly ip_policy_ids: readonly string[] };
  };
}

/**
 * Fails if a write is stored in part: every row must agree with the change log, every version must have its change, and
 * derived tables must agree with the resources. Returns the version.
 */
export async function checkSoundness(databaseUrl: string): Promise<number> {
  const database = await openDatabase(databaseUrl);
  try {
    const queries = database.reader;
    const version = await checkVersions(queries);
    const documents = await checkReplay(queries);
    await checkDerivedTables(queries, documents);
    if (databaseUrl.startsWith('sqlite:')) {
      assert.deepEqual(await column(queries, 'PRAGMA integrity_check'), ['ok']);
      assert.deepEqual(await column(queries, 'PRAGMA foreign_key_check'), []);
    }
    return version;
  } finally {
    await database.close();
  }
}

/** Checks that the versions in the log run from 1 to the current one, without gaps. */
async function checkVersions(queries: Queries): Promise<number> {
  const [version] = (await column(queries, 'SELECT version FROM store_version')).map(Number);
  const logged = (await column(queries, 'SELECT DISTINCT version FROM change_log ORDER BY version')).map(Number);
  assert.equal(logged.length, version, 'a version without a change, or a change without a version');
  for (const [at, each] of logged.entries()) assert.equal(each, at + 1, 'a version is missing in the change log');
  return version ?? 0;
}

/** Replays the change log from its beginning and compares the result with the tables. */
async function checkReplay(queries: Queries): Promise<ReadonlyMap<string, readonly Document[]>> {
  const expected = new Map(Object.keys(tables).map((kind) => [kind, new Map<string, string>()]));
  const rows = await queries.all(
    'SELECT kind, resource_id, before, after, version FROM change_log ORDER BY version, position',
  );
  for (const [kind, id, before, after, version] of rows) {
    const documentsOfKind = expected.get(String(kind));
    if (documentsOfKind === undefined) continue;
    const key = String(id);
    assert.equal(before, documentsOfKind.get(key) ?? null, `version ${version}: ${key} was not as the change log says`);
    if (typeof after === 'string') documentsOfKind.set(key, after);
    else documentsOfKind.delete(key);
    if (kind === 'ip_policy' && after === null) deleteRulesOf(key, expected.get('ip_policy_rule'));
  }
  const documents = new Map<string, readonly Document[]>();
  for (const [kind, table] of Object.entries(tables)) {
    const stored = new Map<string, string>();
    for (const [id, text] of await queries.all(`SELECT id, document FROM ${table}`)) {
      stored.set(String(id), String(text));
    }
    assert.deepEqual(stored, expected.get(kind), `${table} and the change log differ`);
    // Only Gatehouse writes the column.
    documents.set(
      kind,
      [...stored.values()].map((text) => JSON.parse(text) as Document),
    );
  }
  return documents;
}

/** Deletes rules as the database does, with their policy. */
function deleteRulesOf(policyId: string, rules: Map<string, string> | undefined): void {
  for (const [id, text] of rules ?? []) {
    // Only Gatehouse writes the column.
    if ((JSON.parse(text) as Document).ip_policy_id === policyId) rules?.delete(id);
  }
}

/** Checks the tables whose rows follow from the documents. */
async function checkDerivedTables(
  queries: Queries,
  documents: ReadonlyMap<string, readonly Document[]>,
): Promise<void> {
  const of = (kind: string) => documents.get(kind) ?? [];
  const edges = of('tcp_edge');
  const compare = async (what: string, sql: string, wanted: readonly string[]) => {
    const stored = (await queries.all(sql)).map((row) => row.join(' '));
    assert.deepEqual(stored.toSorted(), wanted.toSorted(), `${what}: not what the resources say`);
  };
  await compare('uses of policies', 'SELECT user_id, used_id FROM ip_policies_uses', [
    ...of('ip_restriction').flatMap(({ id, ip_policy_ids = [] }) => ip_policy_ids.map((used) => `${id} ${used}`)),
    ...edges.flatMap(({ id, modules }) =>
      (modules?.ip_restriction?.ip_policy_ids ?? []).map((used) => `${id} ${used}`),
    ),
  ]);
  await compare(
    'uses of backends',
    'SELECT user_id, used_id FROM static_backends_uses',
    edges.flatMap(({ id, modules }) => (modules?.backend === undefined ? [] : [`${id} ${modules.backend.backend_id}`])),
  );
  await compare(
    'ports',
    'SELECT edge_id, port FROM tcp_edge_ports',
    edges.flatMap(({ id, hostports = [] }) => hostports.map((each) => `${id} ${each.split(':').at(-1)}`)),
  );
  await compare(
    'principals',
    'SELECT id FROM principals',
    [...of('user'), ...of('bot_user')].map(({ id }) => id),
  );
}

export async function column(queries: Queries, sql: string): Promise<readonly unknown[]> {
  return (await queries.all(sql)).map(([value]) => value);
}
