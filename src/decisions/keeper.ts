import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { childEnvironment } from '../lib/child-environment.ts';
import type { KeeperReply, KeeperRequest, KeeperTask, Started, StoreOptions } from './messages.ts';

const entry = fileURLToPath(new URL('./keeper-main.ts', import.meta.url));
/** A keeper that takes longer for one task is ended. */
const replyMs = 60_000;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The process that holds the store: what happens to it, or to the native code in it, does not happen to traffic. */
export class Keeper {
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  #isGone = false;

  /** Rejects with a sentence if the store cannot be opened. */
  static async start(options: StoreOptions): Promise<{ readonly keeper: Keeper; readonly started: Started }> {
    const keeper = new Keeper();
    try {
      // keeper-main.ts answers so.
      return { keeper, started: (await keeper.ask({ task: 'start', options })) as Started };
    } catch (error) {
      keeper.kill();
      throw error;
    }
  }

  private constructor() {
    this.#child = fork(entry, [], { serialization: 'advanced', env: childEnvironment(), execArgv: [] });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', (message) => {
      // Only keeper-main.ts writes to this channel.
      const { request, fault, result } = message as KeeperReply;
      const waiting = this.#waiting.get(request);
      if (fault === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(fault));
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    const end = (why: string): void => {
      this.#isGone = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(`the process that keeps decisions ${why}`));
      resolve();
    };
    this.#child.on('error', (error) => {
      if (this.#child.pid === undefined) end(`cannot be started: ${error.message}`);
    });
    this.#child.on('exit', (code, signal) => {
      end(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async ask(task: KeeperTask): Promise<unknown> {
    if (this.#isGone) throw new Error('the process that keeps decisions has ended');
    const request = ++this.#requests;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(request, { resolve, reject });
    const overdue = setTimeout(() => {
      this.kill();
    }, replyMs);
    const message: KeeperRequest = { ...task, request };
    this.#child.send(message, (error) => {
      if (error !== null) reject(error);
    });
    try {
      return await promise;
    } finally {
      clearTimeout(overdue);
      this.#waiting.delete(request);
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
