import { pino } from 'pino';

import { startApp } from '../../src/start/app.ts';
import type { App } from '../../src/start/app.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Flags } from '../../src/config/config.ts';
import { checkAnswer } from './openapi-check.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when there is none. Tests look into it freely. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Body that is sent unchanged, in place of JSON. */
  readonly raw?: string | Uint8Array;
}

/** A Gatehouse in this process, over real sockets. Every response is checked against the OpenAPI document. */
export class Gatehouse implements AsyncDisposable {
  readonly app: App;
  readonly url: string;
  readonly token: string;
  readonly logLines: string[];

  private constructor(app: App, token: string, logLines: string[]) {
    this.app = app;
    this.url = app.apiUrl ?? '';
    this.token = token;
    this.logLines = logLines;
  }

  static async start(databaseUrl: string, settings: Flags = {}): Promise<Gatehouse> {
    const config = readConfig(
      {},
      {
        apiListen: '127.0.0.1:0',
        databaseUrl,
        bootstrapToken: testToken,
        // Tests send many calls at once, on machines that may be busy with others.
        maxWaitMs: '60000',
        httpsListen: 'off',
        agentListen: 'off',
        snapshotFile: 'off',
        // Workers have tests of their own.
        workers: 'off',
        // Tests fail on purpose, often and from one address.
        authFailures: 'off',
        ...settings,
      },
    );
    const logLines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => logLines.push(line) });
    return new Gatehouse(await startApp(config, log), testToken, logLines);
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const { token = this.token, headers = {}, raw } = options;
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const all: Readonly<Record<string, string | undefined>> = {
      authorization: `Bearer ${token}`,
      'service-version': '2',
      'content-type': sent === undefined ? undefined : 'application/json',
      ...headers,
    };
    const given = Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: given,
      redirect: 'manual',
      ...(sent === undefined ? {} : { body: sent }),
    });
    // A stream would go on for ever: its head is all that is looked at here.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) await response.body?.cancel();
    const text = isStream ? '' : await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
    checkAnswer(method, new URL(response.url).pathname, answer);
    return answer;
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options);
  post = (path: string, body?: unknown, options?: CallOptions) => this.call('POST', path, body, options);
  put = (path: string, body?: unknown, options?: CallOptions) => this.call('PUT', path, body, options);
  patch = (path: string, body?: unknown, options?: CallOptions) => this.call('PATCH', path, body, options);
  delete = (path: string, options?: CallOptions) => this.call('DELETE', path, undefined, options);

  /** Creates a resource that the test needs; fails on anything but 201. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see `Answer.body`
  async create(path: string, body: unknown = {}, options?: CallOptions): Promise<any> {
    const answer = await this.post(path, body, options);
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
  }
}

const testToken = 'the-token-that-tests-begin-with-0123456789';
