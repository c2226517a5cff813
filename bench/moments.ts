import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';

import { createDatabase, startPostgres } from '../test/support/postgres.ts';
import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse, newDatabaseFile } from './support/gatehouse.ts';
import { atMost, showNumber, table } from './support/report.ts';
import type { Section } from './support/report.ts';
import { median } from './support/statistics.ts';

/** Backends that the changes are spread over; a tenth as many are made in between, and are gone. */
const resources = 1_000;
const mostMs = 1_000;
const settings = { decisions: 'off', workers: 'off', 'configuration-entries': '20000', 'change-log-days': '36500' };

/** A database that answers statements one after another. */
interface Place {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseFile?: string;
  run(sql: string): Promise<readonly (readonly unknown[])[]>;
}

export const moments: Benchmark = {
  name: 'moments',
  summary: 'the configuration at any moment of a million changes, on SQLite and PostgreSQL',
  async run({ quick, rounds }): Promise<Section> {
    const changes = quick ? 50_000 : 1_000_000;
    await using server = await startPostgres({ fsync: true });
    const url = await createDatabase(server.url);
    const databaseFile = await newDatabaseFile();
    const places: readonly Place[] = [
      { name: 'SQLite', settings, databaseFile, run: (sql) => onSqlite(databaseFile, sql) },
      { name: 'PostgreSQL', settings: { ...settings, 'database-url': url }, run: (sql) => onPostgres(url, sql) },
    ];
    const rows: (readonly string[])[] = [];
    const verdicts = [];
    for (const place of places) {
      const measured = await measure(place, changes, rounds);
      for (const [share, times] of measured)
        rows.push([place.name, share, showNumber(median(times)), showNumber(Math.max(...times))]);
      const slowest = Math.max(...measured.map(([, times]) => median(times)));
      verdicts.push(atMost('moments', `${place.name}: slowest moment, ms`, slowest, mostMs));
    }
    const lines = [
      `\`GET /configuration?at=…\` of ${resources.toLocaleString('en-US')} backends with ${changes.toLocaleString('en-US')} changes in the log, over HTTP, with the entries checked:`,
      '',
      ...table(['', 'changes since', 'median ms', 'longest ms'], rows),
    ];
    return { title: 'moments', lines, verdicts };
  },
};

async function measure(place: Place, changes: number, rounds: number): Promise<(readonly [string, number[]])[]> {
  const base = await fill(place, changes);
  await using gatehouse = await start(place);
  const shares = [0.0001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999];
  const measured: (readonly [string, number[]])[] = [];
  for (const share of shares) {
    const at = Math.round(changes * share);
    const times: number[] = [];
    for (let round = 0; round < Math.max(3, rounds); round++) {
      // A time and a version, in turn: each round asks for another moment.
      const change = at + round;
      const text = round % 2 === 0 ? String(base + change) : timeOf(change);
      const startMs = performance.now();
      const answer = await gatehouse.call('GET', `/configuration?at=${encodeURIComponent(text)}`);
      times.push(performance.now() - startMs);
      check(answer, base, change);
    }
    measured.push([(changes - at).toLocaleString('en-US'), times]);
  }
  return measured;
}

/** Each backend is as its last change before the moment made it. */
function check(answer: Readonly<Record<string, unknown>>, base: number, change: number): void {
  // The form of the answer.
  const { entries, moment } = answer as {
    readonly entries: readonly { readonly description?: string }[];
    readonly moment: { readonly version: number };
  };
  assert.equal(moment.version, base + change);
  const expected = Array.from({ length: resources }, (_, at) => {
    const last = change - ((((change - 1 - at) % resources) + resources) % resources);
    return last < 1 ? '@' : `change ${last}`;
  });
  const shown = entries.map(({ description }) => description ?? '').filter((text) => !text.startsWith('passing'));
  assert.deepEqual(shown.toSorted(), expected.toSorted());
}

const firstMs = Date.UTC(2025, 0, 1);

/** Changes are a second apart. */
function timeOf(change: number): string {
  return `${new Date(firstMs + change * 1000).toISOString().slice(0, 19)}Z`;
}

function start({ settings: given, databaseFile }: Place): Promise<Gatehouse> {
  return Gatehouse.start({ settings: given, ...(databaseFile === undefined ? {} : { databaseFile }) });
}

/** Makes the backends by the API, and their history by one statement. Returns the version before it. */
async function fill(place: Place, changes: number): Promise<number> {
  {
    await using gatehouse = await start(place);
    const entries = Array.from({ length: resources }, (_, at) => ({
      kind: 'static_backends',
      name: `backend-${at}`,
      address: `10.0.0.1:${at + 1}`,
      description: '@',
    }));
    await gatehouse.call('POST', '/configuration', entries);
    // A name that an export gives is no part of the history.
    await gatehouse.call('GET', '/configuration');
  }
  const [[version, accountId] = []] = await place.run(
    `SELECT (SELECT version FROM store_version), (SELECT account_id FROM users LIMIT 1)`,
  );
  const base = Number(version);
  const account = String(accountId);
  const text = (description: string) => `replace(document, '"@"', ${description})`;
  const description = (change: string) => `'"change ' || (${change}) || '"'`;
  const atSql =
    place.databaseFile === undefined
      ? `to_char(to_timestamp(${firstMs / 1000} + n) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
      : `strftime('%Y-%m-%dT%H:%M:%SZ', ${firstMs / 1000} + n, 'unixepoch')`;
  // Those of before are older than all that is made here.
  await place.run(`UPDATE change_log SET at = '2024-12-31T00:00:00Z'`);
  await place.run(
    `CREATE TABLE bench_base AS SELECT row_number() OVER (ORDER BY id) - 1 AS r, id, document FROM static_backends`,
  );
  await place.run(`CREATE UNIQUE INDEX bench_base_r ON bench_base (r)`);
  await place.run(`
    INSERT INTO change_log (version, position, at, account_id, actor, operation_id, kind, resource_id, before, after, sweeping)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${changes})
    SELECT ${base} + n, 0, ${atSql}, '${account}', 'host', 'op_bench', 'static_backend', id,
      CASE WHEN n <= ${resources} THEN document ELSE ${text(description(`n - ${resources}`))} END,
      ${text(description('n'))}, 0
    FROM numbers JOIN bench_base ON r = (n - 1) % ${resources}`);
  // Others are made in between, and deleted later.
  await place.run(`
    INSERT INTO change_log (version, position, at, account_id, actor, operation_id, kind, resource_id, before, after, sweeping)
    SELECT version, 1, at, account_id, actor, operation_id, kind, resource_id || 'x', NULL, replace(replace(after, '"change', '"passing'), resource_id, resource_id || 'x'), 0
    FROM change_log WHERE version > ${base} AND version % ${resources * 10} < ${resources / 10}`);
  await place.run(`
    INSERT INTO change_log (version, position, at, account_id, actor, operation_id, kind, resource_id, before, after, sweeping)
    SELECT later.version, 2, later.at, later.account_id, later.actor, 'op_bench', made.kind, made.resource_id, made.after, NULL, 0
    FROM change_log AS made JOIN change_log AS later ON later.version = made.version + ${resources * 5} AND later.position = 0
    WHERE made.version > ${base} AND made.position = 1`);
  const last = `(SELECT document FROM (SELECT r, id, replace(document, '"@"', '"change ' || (${changes} - (((${changes} - 1 - r) % ${resources}) + ${resources}) % ${resources}) || '"') AS document FROM bench_base) AS made WHERE made.id = static_backends.id)`;
  await place.run(`UPDATE static_backends SET document = ${last}`);
  await place.run('DROP TABLE bench_base');
  await place.run(`UPDATE store_version SET version = (SELECT MAX(version) FROM change_log)`);
  await place.run('ANALYZE');
  return base;
}

async function onSqlite(file: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const database = new DatabaseSync(file);
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));
  } finally {
    database.close();
  }
}

async function onPostgres(url: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Every row of a query in this mode is a list of its values.
    return (await client.query({ text: sql, rowMode: 'array' })).rows as readonly (readonly unknown[])[];
  } finally {
    await client.end();
  }
}
