import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { fillNewSqlite } from '../../support/migrated-sqlite.ts';
import { bareEnvironment, programWords } from '../../support/program-file.ts';

const token = 'the-token-that-tests-begin-with-0123456789';

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** Starts a command of the real program in a process of its own. */
export function begin(args: readonly string[]): ChildProcess {
  const [file, ...first] = programWords;
  return spawn(file, [...first, ...args], {
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function gatehouse(...args: readonly string[]): Promise<Finished> {
  const child = begin(args);
  const texts = { out: '', errors: '' };
  child.stdout?.on('data', (chunk) => (texts.out += String(chunk)));
  child.stderr?.on('data', (chunk) => (texts.errors += String(chunk)));
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, ...texts };
}

/** The service in a process of its own. Disposal stops it gracefully. */
export class Service implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(databaseUrl: string): Promise<Service> {
    if (databaseUrl.startsWith('sqlite:')) await fillNewSqlite(databaseUrl);
    const settings = {
      'api-listen': '127.0.0.1:0',
      'https-listen': 'off',
      'agent-listen': 'off',
      'bootstrap-token': token,
      'public-url': 'https://api.example.com',
      'snapshot-file': 'off',
      'database-url': databaseUrl,
    };
    const child = begin(['serve', ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)]);
    return new Service(child, await untilListening(child));
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'service-version': '2', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** Creates a resource and returns it. */
  async create(path: string, body: unknown = {}): Promise<{ readonly id: string }> {
    const { status, text } = await this.call('POST', path, body);
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
    const created: unknown = JSON.parse(text);
    // Every resource has an id.
    return created as { readonly id: string };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}

/** Waits for the URL, then keeps reading: a program that cannot write its log does not end. */
export function untilListening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: unknown) => {
      output += String(chunk);
      const url = /^Gatehouse listens on (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', () => {
      reject(new Error(`the program did not start: ${output}`));
    });
  });
}
