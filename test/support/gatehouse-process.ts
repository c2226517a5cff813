import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { bareEnvironment, programWords } from './program-file.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** The program as an operator runs it, with nothing but these arguments and variables. */
export class GatehouseProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #out = '';
  #errors = '';

  constructor(args: readonly string[], variables: Readonly<Record<string, string>> = {}, program?: string) {
    const [file, ...first] = program === undefined ? programWords : [program];
    this.child = spawn(file, [...first, ...args], {
      // Default settings must not find the files of a service in the current directory.
      cwd: tmpdir(),
      env: { ...bareEnvironment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.#out += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.#errors += String(chunk)));
    this.#ended = once(this.child, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  }

  /** Starts the service on any port; resolves when it listens. */
  static async serve(databaseUrl: string, more: readonly string[] = []): Promise<GatehouseProcess> {
    const own = [
      '--api-listen',
      '127.0.0.1:0',
      '--https-listen',
      'off',
      '--snapshot-file',
      'off',
      '--agent-listen',
      'off',
    ];
    const running = new GatehouseProcess(['serve', ...own, '--database-url', databaseUrl, ...more]);
    await running.printed(/^Gatehouse listens on (\S+)$/m);
    return running;
  }

  /** Runs a command to its end. */
  static async run(args: readonly string[], variables?: Readonly<Record<string, string>>): Promise<Ended> {
    return new GatehouseProcess(args, variables).ended();
  }

  /** Output so far. */
  get out(): string {
    return this.#out;
  }

  /** URL of the API; empty until it listens. */
  get url(): string {
    return /^Gatehouse listens on (\S+)$/m.exec(this.#out)?.[1] ?? '';
  }

  /** Waits until the output matches; returns the first group of the pattern. */
  printed(pattern: RegExp): Promise<string> {
    return this.#written(pattern, () => this.#out);
  }

  /** The same for standard error. */
  complained(pattern: RegExp): Promise<string> {
    return this.#written(pattern, () => this.#errors);
  }

  async #written(pattern: RegExp, text: () => string): Promise<string> {
    let isOver = false;
    const ended = this.#ended.then(() => (isOver = true));
    for (;;) {
      const wasOver = isOver;
      const found = pattern.exec(text());
      if (found !== null) return found[1] ?? '';
      if (wasOver) throw new Error(`it has not printed ${pattern}: ${this.#out}${this.#errors}`);
      await Promise.race([ended, sleep(20)]);
    }
  }

  async ended(): Promise<Ended> {
    const code = await this.#ended;
    return { code, out: this.#out, errors: this.#errors };
  }

  async call(method: string, path: string, token: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'service-version': '2', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  stop(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.stop('SIGKILL');
  }
}
