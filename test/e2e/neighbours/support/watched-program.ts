import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { bareEnvironment, programFile } from '../../../support/program-file.ts';
import { untilListening } from '../../support/program.ts';

const watch = new URL('turn-watch.ts', import.meta.url).href;
const token = 'the-token-that-tests-begin-with-0123456789';

export interface SentBody {
  readonly type: 'application/json' | 'text/plain';
  readonly text: string;
}

/** The program in a process of its own, with a watch on how long it keeps everybody waiting. */
export class WatchedProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  /** URL of the API. */
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** `more` are further settings, of which the last counts. */
  static async start(databaseUrl: string, more: readonly string[] = []): Promise<WatchedProgram> {
    const settings = [
      '--api-listen=127.0.0.1:0',
      '--https-listen=off',
      '--agent-listen=off',
      '--snapshot-file=off',
      '--log-level=error',
      `--bootstrap-token=${token}`,
      `--database-url=${databaseUrl}`,
      ...more,
    ];
    const child = spawn(process.execPath, ['--expose-gc', '--import', watch, programFile, 'serve', ...settings], {
      env: bareEnvironment,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    return new WatchedProgram(child, await untilListening(child));
  }

  async call(
    method: string,
    path: string,
    body?: SentBody,
    bearer = token,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        'service-version': '2',
        ...(body === undefined ? {} : { 'content-type': body.type }),
      },
      ...(body === undefined ? {} : { body: body.text }),
    });
    return { status: response.status, text: await response.text() };
  }

  async create(path: string, body: unknown = {}): Promise<string> {
    const { status, text } = await this.call('POST', path, { type: 'application/json', text: JSON.stringify(body) });
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
    const created: unknown = JSON.parse(text);
    // Every resource has an id.
    return (created as { readonly id: string }).id;
  }

  /** The longest piece of work since the last time this was asked, in milliseconds of processor time. */
  longestMs(): Promise<number> {
    return this.#ask('read');
  }

  /** Processor time of its main thread so far, in milliseconds. */
  usedMs(): Promise<number> {
    return this.#ask('used');
  }

  /** Bytes that it has in use, after a collection. */
  heldBytes(): Promise<number> {
    return this.#ask('held');
  }

  async #ask(word: 'read' | 'used' | 'held'): Promise<number> {
    const answered = once(this.#child, 'message');
    this.#child.send(word);
    const [answer] = await answered;
    return Number(answer);
  }

  /** Ends it as a power failure would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
