import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { onCores, serverCores } from './cores.ts';
import { childSeconds, processorSeconds, residentMegabytes } from './processor-time.ts';

export interface ProcessOptions {
  /** Cores to run on; default: the server's. */
  readonly cores?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Lower priority than that of the others on its cores, as `nice` counts. */
  readonly niceness?: number;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const stopLimitMs = 5000;

/** A program under measurement, or one that it needs. */
export class Process implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  #output = '';

  constructor(command: readonly string[], options: ProcessOptions = {}) {
    const { cores = serverCores, environment = {}, directory, niceness = 0 } = options;
    const [program, ...args] = ['nice', '-n', String(niceness), ...onCores(cores, command)];
    this.#name = command.slice(0, 2).join(' ');
    this.#child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      cwd: directory,
    });
    running.add(this.#child);
    this.#child.once('exit', () => running.delete(this.#child));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + String(chunk)).slice(-20_000);
      });
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return this.#output;
  }

  get processorSeconds(): number {
    return processorSeconds(this.pid);
  }

  get childSeconds(): ReadonlyMap<number, number> {
    return childSeconds(this.pid);
  }

  get residentMegabytes(): number {
    return residentMegabytes(this.pid);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Repeats `check` until it does not throw. */
  async until(check: () => Promise<unknown>, limitMs = 30_000): Promise<void> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      try {
        await check();
        return;
      } catch (error) {
        const ended = this.#child.exitCode !== null || this.#child.signalCode !== null;
        if (!ended && performance.now() < endMs) await sleep(10);
        else throw new Error(`${this.#name} ${ended ? 'ended' : 'is not ready'}:\n${this.#output}`, { cause: error });
      }
    }
  }

  untilListening(port: number): Promise<void> {
    return this.until(() => checkListening(port));
  }

  /** Resolves with the whole output when the program has ended by itself. */
  async ended(): Promise<string> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed:\n${this.#output}`);
    return this.#output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopLimitMs);
    await exit;
    clearTimeout(timer);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a server that listens on a port has this form.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function checkListening(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
