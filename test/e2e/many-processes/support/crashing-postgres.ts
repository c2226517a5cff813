import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';

import { createDatabase, launchPostgres, startPostgres } from '../../../support/postgres.ts';
import type { PostgresServer } from '../../../support/postgres.ts';
import { until } from './waiting.ts';

/** A PostgreSQL server, with fsync on, that can crash and restart on the same data directory and port. */
export class CrashingPostgres implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #port: number;
  #process: PostgresServer['process'];

  private constructor(server: PostgresServer) {
    this.#server = server;
    this.#process = server.process;
    this.#port = Number(new URL(server.url).port);
  }

  static async start(): Promise<CrashingPostgres> {
    return new CrashingPostgres(await startPostgres({ fsync: true }));
  }

  createDatabase(): Promise<string> {
    return createDatabase(this.#server.url);
  }

  crash(signal: CrashSignal): Promise<void> {
    return crashPostgres(this.#process, signal);
  }

  async restart(): Promise<void> {
    this.#process = await launchPostgres(this.#server.directory, this.#port, true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.crash('SIGQUIT');
    await this.#server[Symbol.asyncDispose]();
  }
}

type CrashSignal = 'SIGKILL' | 'SIGQUIT';

/** Crashes a server: SIGKILL goes to all its processes, SIGQUIT shuts down at once. Neither saves anything. */
export async function crashPostgres(server: PostgresServer['process'], signal: CrashSignal): Promise<void> {
  const { pid } = server;
  if (pid === undefined) throw new Error('the server does not run');
  const gone = once(server, 'exit');
  const children = await childrenOf(pid);
  process.kill(pid, signal);
  for (const child of children) kill(child, signal);
  await gone;
  await until('its processes are gone', () => children.every((child) => !kill(child, 0)));
}

/** Sends the signal; returns false if there is no such process. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

export async function childrenOf(parent: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, at) => parents[at] === parent);
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The program name comes before, in parentheses, and may contain any character.
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
}
