import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freePort } from '../../../support/free-port.ts';
import { makeTables } from '../../../support/migrated-database.ts';
import { connectPostgres } from '../../../support/postgres-client.ts';
import {
  initializePostgres,
  launchPostgres,
  newPostgresDirectory,
  run,
  startPostgres,
} from '../../../support/postgres.ts';
import type { PostgresServer } from '../../../support/postgres.ts';
import { until } from '../../gateway/support/until.ts';
import { crashPostgres } from '../../many-processes/support/crashing-postgres.ts';

/** A server of the pair, or of another database system. */
class Node implements AsyncDisposable {
  readonly directory: string;
  readonly port: number;
  #process: PostgresServer['process'] | undefined;

  constructor(directory: string, port: number) {
    this.directory = directory;
    this.port = port;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async launch(): Promise<void> {
    this.#process = await launchPostgres(this.directory, this.port, true);
  }

  async crash(): Promise<void> {
    const last = this.#process;
    this.#process = undefined;
    if (last !== undefined) await crashPostgres(last, 'SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.crash();
    await rm(this.directory, { recursive: true, force: true });
  }

  async ask(sql: string): Promise<unknown> {
    await using client = await connectPostgres(this.url);
    return Object.values((await client.query(sql)).rows[0] ?? {})[0];
  }
}

let prepared: Promise<string> | undefined;

/** Makes the files of a server that has all tables, once, and shuts it down: each pair starts with copies of them. */
async function prepareFiles(): Promise<string> {
  const server = await startPostgres({ fsync: true });
  process.once('exit', () => {
    rmSync(server.directory, { recursive: true, force: true });
  });
  await makeTables(server.url);
  const gone = once(server.process, 'exit');
  server.process.kill('SIGINT');
  await gone;
  return server.directory;
}

async function copyPrepared(): Promise<Node> {
  const directory = await newPostgresDirectory();
  await run('cp', ['-a', join(await (prepared ??= prepareFiles()), 'data'), directory]);
  return new Node(directory, await freePort());
}

/** Starts a server that has nothing to do with any other. Servers that start with a copy of files share their identifier. */
export async function startForeignPostgres(): Promise<Node> {
  const node = new Node(await initializePostgres(), await freePort());
  await node.launch();
  return node;
}

/** A primary and a standby that streams from it, as asynchronous replication does. */
export class ReplicatedPostgres implements AsyncDisposable {
  readonly primary: Node;
  readonly standby: Node;

  private constructor(primary: Node, standby: Node) {
    this.primary = primary;
    this.standby = standby;
  }

  static async start(): Promise<ReplicatedPostgres> {
    // A copy of a server that was shut down is a standby that needs nothing but what comes later.
    const [primary, standby] = [await copyPrepared(), await copyPrepared()];
    const { directory } = standby;
    await writeFile(join(directory, 'data', 'standby.signal'), '');
    const source = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres application_name=standby'\n`;
    await appendFile(join(directory, 'data', 'postgresql.auto.conf'), source);
    await primary.launch();
    await standby.launch();
    const pair = new ReplicatedPostgres(primary, standby);
    await until(async () => (await primary.ask('SELECT COUNT(*) FROM pg_stat_replication')) === '1', 'it streams');
    return pair;
  }

  /** URL of both servers. */
  get url(): string {
    const hosts = [this.primary, this.standby].map(({ port }) => `127.0.0.1:${port}`);
    return `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`;
  }

  /** Waits until the standby has all that the primary has, then cuts it off: what follows is lost in a failover. */
  async cutOff(): Promise<void> {
    const written = String(await this.primary.ask('SELECT pg_current_wal_flush_lsn()'));
    const isThere = `SELECT pg_last_wal_replay_lsn() >= '${written}'`;
    await until(async () => (await this.standby.ask(isThere)) === true, 'the standby has caught up');
    await this.standby.ask("ALTER SYSTEM SET primary_conninfo = ''");
    await this.standby.ask('SELECT pg_reload_conf()');
    await until(
      async () => (await this.standby.ask('SELECT COUNT(*) FROM pg_stat_wal_receiver')) === '0',
      'the standby receives nothing',
    );
  }

  /** The primary lives on, as where nobody has stopped it. */
  async promote(): Promise<void> {
    await this.standby.ask('SELECT pg_promote()');
  }

  /** Restarts the standby as a primary of its own, without the new timeline that a promotion begins. */
  async splitOnOneTimeline(): Promise<void> {
    await this.standby.crash();
    await rm(join(this.standby.directory, 'data', 'standby.signal'));
    await this.standby.launch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of [this.primary, this.standby]) await node[Symbol.asyncDispose]();
  }
}
