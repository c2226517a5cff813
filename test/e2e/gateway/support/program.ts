import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { freePort } from '../../../support/free-port.ts';
import { fillNewSqlite } from '../../../support/migrated-sqlite.ts';
import { programWords } from '../../../support/program-file.ts';
import { until } from './until.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined when there is none. Tests look into it freely. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

interface Surroundings {
  /** The address of its listeners; default 127.0.0.1. */
  readonly host?: string;
  /** Its limit of descriptors; default: that of this process. */
  readonly openFiles?: number;
  /** Ports of the API, of HTTPS and of metrics; default: ones that are free. */
  readonly ports?: readonly [number, number, number];
  /** A descriptor that listens for agents, passed on as systemd does. */
  readonly agentSocket?: number;
}

export const programToken = 'the-token-that-programs-begin-with-0123456789';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const startLimitMs = 300_000;
const passSocket = 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=agents exec "$0" "$@"';

/** Gatehouse as users run it: a process of its own, configured by flags and used over sockets. */
export class Program implements AsyncDisposable {
  readonly apiPort: number;
  readonly httpsPort: number;
  readonly metricsPort: number;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  #output = '';
  #ended = false;

  static async start(
    databaseUrl: string,
    settings: Readonly<Record<string, string>> = {},
    surroundings: Surroundings = {},
  ): Promise<Program> {
    if (databaseUrl.startsWith('sqlite:')) await fillNewSqlite(databaseUrl);
    const ports = surroundings.ports ?? ([await freePort(), await freePort(), await freePort()] as const);
    const program = new Program(ports, databaseUrl, settings, surroundings);
    try {
      await until(() => program.#started(), 'the program has started', startLimitMs);
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw new Error(`the program has not started:\n${program.#output}`, { cause: error });
    }
    return program;
  }

  private constructor(
    [apiPort, httpsPort, metricsPort]: readonly [number, number, number],
    databaseUrl: string,
    settings: Readonly<Record<string, string>>,
    { host = '127.0.0.1', openFiles, agentSocket }: Surroundings,
  ) {
    this.apiPort = apiPort;
    this.httpsPort = httpsPort;
    this.metricsPort = metricsPort;
    const flags = {
      'api-listen': `${host}:${apiPort}`,
      'https-listen': `${host}:${httpsPort}`,
      'agent-listen': 'off',
      'metrics-listen': `${host}:${metricsPort}`,
      'database-url': databaseUrl,
      'bootstrap-token': programToken,
      'snapshot-file': 'off',
      // Below those that the system gives to outgoing connections.
      'tcp-ports': '10000-32767',
      ...settings,
    };
    const given = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const limited = openFiles === undefined ? [] : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', String(openFiles)];
    const passing = agentSocket === undefined ? [] : ['sh', '-c', passSocket];
    const [command = '', ...args] = [...limited, ...passing, ...programWords, 'serve', ...given];
    this.#child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe', ...(agentSocket === undefined ? [] : [agentSocket])],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => (this.#output += String(chunk)));
    }
    this.exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#ended = true;
      return code ?? signal;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return this.#output;
  }

  /** Returns the lines of the log with this message. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see `ApiAnswer.body`
  logged(message: string): readonly any[] {
    // The last one may still be under way.
    const lines = this.#output.split('\n').slice(0, -1);
    return lines
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === message);
  }

  async call(method: string, path: string, body?: unknown, token: string = programToken): Promise<ApiAnswer> {
    const response = await fetch(`http://127.0.0.1:${this.apiPort}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'service-version': '2',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  /** Makes a call that must succeed for the test to go on. */
  // oxlint-disable-next-line typescript/no-explicit-any -- see `ApiAnswer.body`
  async must(method: string, path: string, body?: unknown, token?: string): Promise<any> {
    const answer = await this.call(method, path, body, token);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) this.#child.kill('SIGKILL');
    await this.exited;
  }

  async #started(): Promise<boolean> {
    if (this.#ended) throw new Error('it ended');
    return /^Gatehouse (listens|gateway runs|serves agents)/m.test(this.#output);
  }
}
