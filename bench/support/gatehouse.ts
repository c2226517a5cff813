import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import type { Listening } from './bare-servers.ts';
import { freePort, Process } from './process.ts';
import type { ProcessOptions } from './process.ts';
import { scratchFolder } from './scratch.ts';

interface GatehouseOptions extends ProcessOptions {
  /** Path of the database; default: a new, empty one. */
  readonly databaseFile?: string;
  /** Command line flags without their dashes. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[];
  /** Runs the sources: a module of `nodeArguments` that changes one of them does not reach what is built. */
  readonly isFromSources?: boolean;
  /** Root of the checkout to run; default: this one. */
  readonly root?: string;
  /** Limit for the start; default: two minutes. */
  readonly readyMs?: number;
}

export const benchToken = 'the-token-that-benchmarks-use-0123456789';
const ownRoot = new URL('../../', import.meta.url).pathname;
let databases = 0;

/** A Gatehouse in a process of its own, as an operator would start it, without logs of single requests. */
export class Gatehouse implements AsyncDisposable {
  readonly process: Process;
  readonly apiPort: number;
  readonly httpsPort: number;
  /** Time from the start of the process until `/readyz` succeeded. */
  readonly startMs: number;

  /** Token that the service issued. The bootstrap token, chosen here, costs one more hash at each call. */
  #token = benchToken;

  private constructor(program: Process, apiPort: number, httpsPort: number, startMs: number) {
    this.process = program;
    this.apiPort = apiPort;
    this.httpsPort = httpsPort;
    this.startMs = startMs;
  }

  static async start(options: GatehouseOptions = {}): Promise<Gatehouse> {
    const [apiPort, httpsPort] = [await freePort(), await freePort()];
    const startMs = performance.now();
    const program = await launch(apiPort, httpsPort, options);
    await program.until(() => checkReady(apiPort), options.readyMs ?? 120_000);
    const gatehouse = new Gatehouse(program, apiPort, httpsPort, performance.now() - startMs);
    gatehouse.#token = String((await gatehouse.call('POST', '/api_keys', {}))['token']);
    return gatehouse;
  }

  /** Headers that every API call needs. */
  get headers(): Readonly<Record<string, string>> {
    return { Authorization: `Bearer ${this.#token}`, 'Service-Version': '2' };
  }

  async call(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`http://127.0.0.1:${this.apiPort}${path}`, {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    // Every answer of the API with a body is a JSON object.
    return text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  }

  async create(path: string, body: unknown): Promise<string> {
    return String((await this.call('POST', path, body))['id']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

/** Starts a gateway in a process of its own, beside that of the API over the same database. */
export async function startGateway(databaseFile: string, settings: GatehouseOptions['settings']): Promise<Listening> {
  const port = await freePort();
  const program = await launch(await freePort(), port, { databaseFile, settings: { ...settings, role: 'gateway' } });
  await program.untilListening(port);
  return { process: program, port, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

async function launch(apiPort: number, httpsPort: number, options: GatehouseOptions): Promise<Process> {
  const {
    databaseFile,
    settings = {},
    nodeArguments = [],
    isFromSources = false,
    root = ownRoot,
    readyMs: _,
    ...ofProcess
  } = options;
  const flags = {
    'api-listen': `127.0.0.1:${apiPort}`,
    'https-listen': `127.0.0.1:${httpsPort}`,
    'agent-listen': 'off',
    'database-url': `sqlite:${databaseFile ?? (await newDatabaseFile())}`,
    'bootstrap-token': benchToken,
    'log-level': 'warn',
    'access-log': '0',
    'drain-seconds': '0',
    // Load generators reach the edge by the name that every machine resolves.
    'agent-domain': 'agents.localhost',
    'own-names': '!localhost',
    // One account makes all calls of a benchmark.
    'rate-limit': 'off',
    ...settings,
  };
  const known = root === ownRoot ? undefined : knownFlags(root);
  const given = Object.entries(flags)
    .filter(([name]) => known === undefined || known.includes(`--${name} `))
    .flatMap(([name, value]) => [`--${name}`, value]);
  // Its compile cache is warm from the second start on.
  const program = isFromSources
    ? [process.execPath, '--max-semi-space-size=16', join(root, 'src/main.ts')]
    : [join(root, 'bin/gatehouse')];
  const command = [...program, 'serve', ...given];
  const environment = { NODE_OPTIONS: nodeArguments.join(' '), ...ofProcess.environment };
  return new Process(command, { directory: root, ...ofProcess, environment });
}

export async function newDatabaseFile(): Promise<string> {
  return join(await scratchFolder(), `gatehouse-${(databases += 1)}.db`);
}

async function checkReady(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`/readyz answered ${response.status}`);
}

/** The help of another checkout, which names its flags; an earlier one does without what it does not know. */
function knownFlags(root: string): string {
  return execFileSync(process.execPath, [join(root, 'src/main.ts'), 'serve', '--help'], { encoding: 'utf8' });
}
