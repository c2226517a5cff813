import { Agent, ClientRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';

import { pino } from 'pino';

import { startApp } from '../../src/start/app.ts';
import type { App } from '../../src/start/app.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Flags } from '../../src/config/config.ts';
import { freePort } from './free-port.ts';
import { fillNewSqlite } from './migrated-sqlite.ts';
import { checkAnswer } from './openapi-check.ts';
import { refuseReadsBesideTransactions } from './reads-beside-transactions.ts';

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

/** Workers have tests of their own; `TEST_WORKERS=1` runs others with them too. */
const usualWorkers = process.env['TEST_WORKERS'] ?? 'off';

/** A Gatehouse in this process, over real sockets. Every response is checked against the OpenAPI document. */
export class Gatehouse implements AsyncDisposable {
  readonly app: App;
  readonly url: string;
  /** Port of the HTTPS listener. */
  readonly httpsPort: number;
  readonly token: string;
  readonly logLines: string[];
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(app: App, httpsPort: number, token: string, logLines: string[]) {
    this.app = app;
    this.httpsPort = httpsPort;
    this.url = app.apiUrl ?? '';
    this.token = token;
    this.logLines = logLines;
  }

  static async start(databaseUrl: string, settings: Flags = {}): Promise<Gatehouse> {
    if (databaseUrl.startsWith('sqlite:')) await fillNewSqlite(databaseUrl);
    const { workers = usualWorkers, httpsListen = 'off' } = settings;
    const config = readConfig(
      {},
      {
        apiListen: '127.0.0.1:0',
        databaseUrl,
        bootstrapToken: testToken,
        // Tests send many calls at once, on machines that may be busy with others.
        maxWaitMs: '60000',
        agentListen: 'off',
        snapshotFile: 'off',
        // Tests fail on purpose, often and from one address.
        authFailures: 'off',
        ...settings,
        workers,
        // Workers listen on one port, which must be known to all of them.
        httpsListen: workers === 'off' ? httpsListen : httpsListen.replace(/:0$/, `:${await freePort()}`),
      },
    );
    const logLines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => logLines.push(line) });
    const app = await startApp(config, log);
    for (const { level, message } of app.notices) log[level](message);
    refuseReadsBesideTransactions(app.context.store);
    return new Gatehouse(app, app.engine?.httpsPort() ?? config.httpsListen?.port ?? 0, testToken, logLines);
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
    const url = new URL(path, this.url);
    const response = await this.#send(url, method, new Map(given), sent);
    // A stream would go on for ever: its head is all that is looked at here.
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    if (isStream) response.destroy();
    const text = isStream ? '' : await textOf(response);
    const answer = {
      status: response.statusCode ?? 0,
      headers: new Headers(pairsOf(response.rawHeaders)),
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
    checkAnswer(method, url.pathname, answer);
    return answer;
  }

  /** A fifth of the work of `fetch`, which tests notice: they send hundreds of thousands of calls. */
  #send(url: URL, method: string, headers: Map<string, string>, body: string | Uint8Array | undefined) {
    // Node would leave it out of a DELETE.
    if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
    return new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: Object.fromEntries(headers), agent: this.#agent };
      // Not `request`, which looks in these processes whether a test has called it.
      new ClientRequest({ ...urlToHttpOptions(url), ...options }, resolve).on('error', reject).end(body);
    });
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
    this.#agent.destroy();
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Headers as they came, name and value in turn. */
function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? '']);
}

const testToken = 'the-token-that-tests-begin-with-0123456789';
