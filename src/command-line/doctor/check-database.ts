import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';

import type { Config } from '../../config/config.ts';
import { postgresServers, sqlitePath } from '../../lib/database-url.ts';
import type { OwnNames } from '../../resources/own-names.ts';
import type { Queries } from '../../store/database.ts';
import { refuseLostFile } from '../../store/sqlite/lost-file.ts';
import { openPostgres } from '../../store/postgres/postgres.ts';
import { explain } from '../explain.ts';
import { checkCertificates } from './check-certificates.ts';
import { checkOwnNames } from './check-own-names.ts';
import { checkRules } from './check-rules.ts';
import { fault, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const subject = 'database';
const replication = 'replication';
/** Sessions and certificates of two machines disagree beyond this. */
const clockToleranceMs = 2_000;
const othersBits = 0o077;

/** Looks at the database and what is in it. Changes nothing, and makes none. */
export async function checkDatabase(
  { databaseUrl: url, databaseListenUrl }: Pick<Config, 'databaseUrl' | 'databaseListenUrl'>,
  ownNames: OwnNames,
  isRunning: boolean,
): Promise<readonly Finding[]> {
  const path = sqlitePath(url);
  try {
    return path === undefined
      ? await checkPostgres(url, databaseListenUrl, ownNames)
      : await checkSqlite(path, ownNames, isRunning);
  } catch (error) {
    const remedy = path === undefined ? 'check GATEHOUSE_DATABASE_URL, and that PostgreSQL runs' : 'restore a backup';
    return [fault(subject, `it cannot be used: ${explain(error)}. Remedy: ${remedy}`)];
  }
}

async function checkSqlite(path: string, ownNames: OwnNames, isRunning: boolean): Promise<readonly Finding[]> {
  await refuseLostFile(path);
  if (!existsSync(path) && isRunning) {
    const remedy = 'run this in the folder of the service, or name its database with --database-url';
    return [
      fault(subject, `${resolve(path)} does not exist, although the service runs, so it uses another: ${remedy}`),
    ];
  }
  if (!existsSync(path)) return [checkFolder(dirname(path))];
  accessSync(path, constants.W_OK | constants.R_OK);
  const mode = statSync(path).mode & 0o777;
  const rights =
    (mode & othersBits) === 0
      ? []
      : [warning(subject, `others have rights on ${path} (mode ${mode.toString(8)}). Run: chmod 600 ${path}`)];
  using database = new DatabaseSync(path, { readOnly: true });
  const all = async (sql: string, values: readonly SQLInputValue[] = []) =>
    database
      // Parameters of the statement stand in their order, each once.
      .prepare(sql.replaceAll(/\$\d+/g, '?'))
      .all(...values)
      .map((row) => Object.values(row)) as string[][];
  const [[verdict = ''] = []] = await all('PRAGMA quick_check(1)');
  if (verdict !== 'ok') return [...rights, fault(subject, `${path} is damaged: ${verdict}. Restore a backup`)];
  return [ok(subject, `${path} is whole`), ...rights, ...(await checkStored({ all }, ownNames))];
}

async function checkStored(queries: Pick<Queries, 'all'>, ownNames: OwnNames): Promise<readonly Finding[]> {
  // A database that no service has been started on yet has no tables.
  const hasTables = await queries.all('SELECT id FROM tls_certificates LIMIT 1').then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && /no such table|relation .* does not exist/.test(explain(error))) return false;
      throw error;
    },
  );
  if (!hasTables) return [ok(subject, 'nothing is in it yet')];
  return [
    ...(await checkCertificates(queries)),
    await checkOwnNames(queries, ownNames),
    ...(await checkRules(queries)),
  ];
}

function checkFolder(folder: string): Finding {
  const existing = nearestFolder(folder);
  try {
    accessSync(existing, constants.W_OK);
    return ok(subject, `there is none yet; the first start makes it in ${folder}`);
  } catch {
    return fault(
      subject,
      `${existing} cannot be written, so that no database can be made in it. Give this user rights on it`,
    );
  }
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

async function checkPostgres(
  url: string,
  listenUrl: string | undefined,
  ownNames: OwnNames,
): Promise<readonly Finding[]> {
  const database = await openPostgres(url, listenUrl);
  try {
    const { reader } = database;
    const beforeMs = Date.now();
    const [[version = '', nowMs = 0] = []] = await reader.all(
      "SELECT current_setting('server_version'), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    );
    return [
      ok(subject, `PostgreSQL ${version} answers`),
      checkDifference(Number(nowMs), beforeMs, Date.now()),
      ...(await checkReplication(reader, postgresServers(url).urls.length)),
      ...(await checkStored(reader satisfies Queries, ownNames)),
    ];
  } finally {
    await database.close();
  }
}

/** Looks at the standbys, on which depends what a failover loses. Roles without further rights see how many there are, and not what each of them is. */
async function checkReplication(queries: Pick<Queries, 'all'>, servers: number): Promise<readonly Finding[]> {
  const [[names = '', commit = '', standbys = 0, synchronous = 0, hidden = 0] = []] = await queries.all(
    `SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), COUNT(pid),
       COUNT(*) FILTER (WHERE sync_state IN ('sync', 'quorum')), COUNT(pid) FILTER (WHERE sync_state IS NULL)
     FROM pg_stat_replication`,
  );
  const isAsked = names !== '' && commit !== 'off' && commit !== 'local';
  const seen = `${String(standbys)} ${standbys === 1 ? 'standby' : 'standbys'}`;
  const remedy = 'See "What is lost when" in docs/failover.md';
  if (commit === 'off')
    return [
      warning(replication, `synchronous_commit is off: a crash of the server loses what was answered. ${remedy}`),
    ];
  if (standbys === 0)
    return servers === 1 && !isAsked
      ? []
      : [warning(replication, `no standby follows the server: writes stop, or are lost, with it. ${remedy}`)];
  if (!isAsked || (synchronous === 0 && hidden === 0))
    return [warning(replication, `of ${seen} none is synchronous: a failover loses what was answered last. ${remedy}`)];
  return [ok(replication, `${seen}; commits wait for a synchronous one`)];
}

/** The database read its clock at some time between the two. */
function checkDifference(nowMs: number, beforeMs: number, afterMs: number): Finding {
  const offMs = nowMs < beforeMs ? nowMs - beforeMs : Math.max(0, nowMs - afterMs);
  if (Math.abs(offMs) <= clockToleranceMs) return ok('clock', 'it agrees with that of the database');
  const seconds = Math.round(offMs / 1000);
  return fault('clock', `that of the database is ${seconds} seconds off. Let both machines set theirs by NTP`);
}
