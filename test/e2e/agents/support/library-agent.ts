import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Config } from '@ngrok/ngrok';

import { until } from '../../gateway/support/until.ts';

/** Options of the library that are plain data. */
export type PlainConfig = Omit<Config, 'onLogEvent' | 'onStatusChange'>;

export interface AgentOrder {
  /** Options of the session: server, CA, token. */
  readonly session: PlainConfig;
  /** Options of each listener. */
  readonly listeners: readonly PlainConfig[];
  /** True if the program ends when it is told to stop; then it has one listener with `addr` and `domain`. */
  readonly stops?: boolean;
}

export type ToAgent = ({ readonly kind: 'start' } & AgentOrder) | { readonly kind: 'close'; readonly url: string };

export type FromAgent =
  | { readonly kind: 'up'; readonly endpoints: readonly BoundByLibrary[] }
  | { readonly kind: 'failed'; readonly text: string; readonly errorCode: string }
  | { readonly kind: 'status'; readonly status: string }
  | { readonly kind: 'closed' };

interface BoundByLibrary {
  readonly id: string;
  readonly url: string;
}

/** An error as the library shows it to its user. */
export class LibraryError extends Error {
  override readonly name = 'LibraryError';
  readonly errorCode: string;

  constructor(text: string, errorCode: string) {
    super(text);
    this.errorCode = errorCode;
  }
}

const program = fileURLToPath(new URL('./agent-program.ts', import.meta.url));
const startLimitMs = 300_000;

/** A program with the library in a process of its own. Disposal kills it. */
export class LibraryAgent implements AsyncDisposable {
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  readonly #messages: FromAgent[] = [];
  #hasEnded = false;

  private constructor() {
    this.#child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    // The child sends messages of this form only.
    this.#child.on('message', (message) => this.#messages.push(message as FromAgent));
    this.exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#hasEnded = true;
      return code ?? signal;
    });
  }

  /** Resolves when all listeners are open. Rejects with a `LibraryError` if the library reports one. */
  static async start(order: AgentOrder): Promise<LibraryAgent> {
    const agent = new LibraryAgent();
    try {
      agent.#send({ kind: 'start', ...order });
      await agent.#answered('up');
    } catch (error) {
      await agent[Symbol.asyncDispose]();
      throw error;
    }
    return agent;
  }

  get endpoints(): readonly BoundByLibrary[] {
    return this.#messages.find((message) => message.kind === 'up')?.endpoints ?? [];
  }

  /** The URL of its first listener. */
  get url(): string {
    return this.endpoints[0]?.url ?? '';
  }

  /** The host name in that URL. */
  get hostname(): string {
    return new URL(this.url).hostname;
  }

  /** The port in the URL of a TCP listener. */
  portOf(at: number): number {
    return Number(new URL(this.endpoints[at]?.url ?? '').port);
  }

  /** Changes of the connection that the library has reported: `connected`, `closed`. */
  get statuses(): readonly string[] {
    return this.#messages.flatMap((message) => (message.kind === 'status' ? message.status : []));
  }

  async closeListener(url: string): Promise<void> {
    this.#send({ kind: 'close', url });
    await this.#answered('closed');
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    await this.exited;
  }

  #send(message: ToAgent): void {
    this.#child.send(message);
  }

  async #answered(kind: FromAgent['kind']): Promise<void> {
    await until(
      () => {
        const failed = this.#messages.find((message) => message.kind === 'failed');
        if (failed !== undefined) throw new LibraryError(failed.text, failed.errorCode);
        if (this.#hasEnded) throw new Error('the program with the library has ended');
        return this.#messages.some((message) => message.kind === kind);
      },
      `the library says "${kind}"`,
      startLimitMs,
    );
  }
}
