import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { bareEnvironment, programWords } from '../../../support/program-file.ts';
import { callApi } from './call.ts';
import type { Answer, CallOptions } from './call.ts';
import { stripUndefined, until } from './waiting.ts';

const firstToken = 'the-token-that-tests-begin-with-0123456789';

export type Flags = Readonly<Record<string, string | undefined>>;

const usualFlags: Flags = {
  role: 'api',
  'api-listen': '127.0.0.1:0',
  'https-listen': 'off',
  'agent-listen': 'off',
  'tcp-ports': '10000-32767',
  'bootstrap-token': firstToken,
  'public-url': 'https://api.example.com',
  'snapshot-file': 'off',
  'auth-failures': 'off',
  'max-wait-ms': '60000',
  'drain-seconds': '1',
};

/** Gatehouse in a process of its own, which can be stopped, frozen and killed. */
export class Running implements AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when its last output was read. */
  readonly #ended: Promise<unknown>;
  #hasEnded = false;
  #output = '';

  constructor(child: ChildProcess) {
    this.child = child;
    this.#ended = once(child, 'close').then(() => (this.#hasEnded = true));
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (this.#output += String(chunk)));
  }

  static launch(databaseUrl: string, flags: Flags = {}): Running {
    const all = stripUndefined({ ...usualFlags, 'database-url': databaseUrl, ...flags });
    const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
    const [file, ...first] = programWords;
    return new Running(
      spawn(file, [...first, 'serve', ...args], {
        env: bareEnvironment,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  }

  /** Starts a process; resolves when it logs that it runs. */
  static async start(databaseUrl: string, flags: Flags = {}): Promise<Running> {
    const running = Running.launch(databaseUrl, flags);
    await running.prints(/^Gatehouse (?:listens on|gateway runs)/m);
    return running;
  }

  /** Everything written to stdout and stderr. */
  get output(): string {
    return this.#output;
  }

  get url(): string {
    return /^Gatehouse listens on (\S+)$/m.exec(this.#output)?.[1] ?? '';
  }

  /** Resolves once the output matches. */
  async prints(text: RegExp): Promise<void> {
    await until(`${String(text)} in the output`, () => {
      if (text.test(this.#output)) return true;
      if (this.#hasEnded) throw new Error(`the process has ended: ${this.#output.slice(-2_000)}`);
      return false;
    });
  }

  /** Resolves with the exit code, once all output was read. */
  async ends(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ends();
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ends();
  }

  call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return callApi(this.url, method, path, body, { token: firstToken, ...options });
  }

  /** Creates a resource that the test needs; fails on anything but 201. */
  async create(path: string, body: unknown = {}, options?: CallOptions): Promise<Answer['body']> {
    const answer = await this.call('POST', path, body, options);
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
