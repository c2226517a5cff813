import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { DuckDBInstance } from '@duckdb/node-api';

import { decision, openDecisions } from '../../test/support/decisions.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import { parseCidr } from '../lib/ip/cidr.ts';
import type { Decisions } from './decisions.ts';
import { sourceRange } from './source-range.ts';

const account = 'ac_one';
const hourMs = 3_600_000;
const networks = ['::/0', '::/1', '8000::/1', 'ffff::8000:0:0:1/128', 'ffff::/64', 'ffff::/65', '203.0.113.0/24'];
const sources = ['203.0.113.9', 'ffff::8000:0:0:1', 'ffff::7fff:0:0:1', '7fff::1'];

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.parquet'));
}

/** Paths that each network has, newest first. */
async function byNetwork(decisions: Decisions): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const network of networks) {
    const parsed = parseCidr(network);
    assert.ok(parsed.ok);
    const asked = { accountId: account, limit: 100, source: sourceRange(parsed.cidr) };
    const { rows } = await decisions.ask('list', asked);
    found[network] = rows.map(({ path }) => path).join(' ');
  }
  return found;
}

async function keep(decisions: Decisions, path: string): Promise<void> {
  for (const [at, source] of sources.entries()) decisions.add(account, decision({ source, path: `${path}${at}` }));
  await decisions.flush();
}

const of = (path: string, ...places: readonly number[]): string => places.map((at) => `${path}${at}`).join(' ');
const expected = (path: string): readonly string[] => [
  of(path, 3, 2, 1, 0),
  of(path, 3, 0),
  of(path, 2, 1),
  of(path, 1),
  of(path, 2, 1),
  of(path, 2),
  of(path, 0),
];

test('files of decisions say their version, have columns that every engine reads, and those of version 1 are read on', async () => {
  const [folder, archive] = [scratchFolder(), scratchFolder()];
  const ofAccount = join(folder, 'accounts', account);
  {
    await using decisions = await openDecisions(folder, { archive });
    await keep(decisions, '/old');
    assert.deepEqual(Object.values(await byNetwork(decisions)), expected('/old'), 'from the log');
    await decisions.tend(Date.now() + hourMs);
    assert.deepEqual(Object.values(await byNetwork(decisions)), expected('/old'), 'from Parquet');
  }
  const [name = assert.fail()] = namesIn(ofAccount);
  assert.match(name, /^\d+-\d+-\d+-\d+\.2\.parquet$/);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const path = join(ofAccount, name);
  const read = async (query: string) => (await connection.runAndReadAll(query)).getRows();
  const types = await read(`SELECT DISTINCT type, logical_type FROM parquet_schema('${path}') WHERE type IS NOT NULL`);
  assert.deepEqual(
    types.filter(([, logical]) => String(logical).includes('isSigned=false')),
    [],
  );
  assert.deepEqual(
    types.map(([type]) => type).filter((type) => !['INT32', 'INT64', 'BYTE_ARRAY'].includes(String(type))),
    [],
  );
  const metadata = await read(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${path}')`);
  assert.deepEqual(metadata, [['gatehouse_schema', '2']]);

  // As version 1 wrote it.
  const unsigned = ['source_high', 'source_low'].map(
    (half) => `((${half}::HUGEINT + 18446744073709551616) % 18446744073709551616)::UBIGINT AS ${half}`,
  );
  const old = join(ofAccount, name.replace('.2.parquet', '.parquet'));
  await connection.run(
    `COPY (SELECT * REPLACE (${unsigned.join(', ')}) FROM read_parquet('${path}')) TO '${old}' (FORMAT parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
  rmSync(path);
  rmSync(join(archive, account), { recursive: true });
  rmSync(join(ofAccount, 'archived'));
  mkdirSync(join(archive, account));

  await using decisions = await openDecisions(folder, { archive });
  assert.deepEqual(Object.values(await byNetwork(decisions)), expected('/old'), 'from version 1');
  await keep(decisions, '/new');
  await decisions.tend(Date.now() + hourMs);
  const both = expected('/new').map((paths, at) => `${paths} ${expected('/old')[at]}`);
  assert.deepEqual(Object.values(await byNetwork(decisions)), both);
  const range = { accountId: account, fromMs: 0, toMs: Date.now() + hourMs };
  const { entries } = await decisions.ask('top', { ...range, by: 'source', order: 'requests', limit: 9 });
  const counts = Object.fromEntries(entries.map(({ key, requests }) => [key, requests]));
  assert.deepEqual(counts, Object.fromEntries(sources.map((source) => [source, 2])));
  const archived = readdirSync(join(archive, account)).flatMap((day) => namesIn(join(archive, account, day)));
  const ends = new Set(archived.map((each) => each.split('-').at(-1)?.replace(/^\d+/, '')));
  assert.deepEqual(ends, new Set(['.2.parquet', '.parquet']));
});
