import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const answerLimitMs = 60_000;

/** A program of `bench/servers/` that takes orders, one at a time. It runs on the cores of this process. */
export class Helper implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;

  private constructor(name: string) {
    this.#name = name;
    const program = new URL(`../../servers/${name}.ts`, import.meta.url).pathname;
    this.#child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }

  static start(name: string): Helper {
    return new Helper(name);
  }

  tell(order: unknown): void {
    // Orders are plain objects and words.
    this.#child.send(order as object);
  }

  /** Resolves with the next message, whose form the program knows. */
  ask<Answer = unknown>(order: unknown): Promise<Answer> {
    const answer = this.#next<Answer>();
    this.tell(order);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  #next<Answer>(): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => reject(new Error(`${this.#name} does not answer`)), answerLimitMs);
    const exited = (): void => reject(new Error(`${this.#name} has ended`));
    const answered = (message: unknown): void => resolve(message as Answer);
    this.#child.once('message', answered).once('exit', exited);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#child.off('message', answered).off('exit', exited);
    });
  }
}
