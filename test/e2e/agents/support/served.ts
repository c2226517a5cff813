import assert from 'node:assert/strict';
import { after, afterEach, before, describe } from 'node:test';

import { freePort, freePorts } from '../../../support/free-port.ts';
import { onAnyDatabase } from '../../../support/each-database.ts';
import { createAccount } from '../../gateway/support/host-command.ts';
import { Program } from '../../gateway/support/program.ts';
import { askHttps, askTcp } from '../../gateway/support/traffic.ts';
import type { Answered, Asking } from '../../gateway/support/traffic.ts';
import { until } from '../../gateway/support/until.ts';
import { startUpstream } from '../../gateway/support/upstream.ts';
import type { Upstream } from '../../gateway/support/upstream.ts';
import { LibraryAgent } from './library-agent.ts';
import type { AgentOrder, PlainConfig } from './library-agent.ts';

/** The library waits 125 s after its third attempt; on a busy machine the server may miss those before. */
export const backLimitMs = 200_000;

/** Number of ports for TCP endpoints. */
const tcpPorts = 25;

/** The real program in a process of its own that serves agents, and an upstream for them. Can be killed and started again. */
export class Served implements AsyncDisposable {
  readonly databaseUrl: string;
  readonly agentPort: number;
  readonly upstream: Upstream;
  readonly #ports: readonly [number, number, number];
  readonly #settings: Readonly<Record<string, string>>;
  readonly #owned: AsyncDisposable[] = [];
  #program: Program;
  #ca = '';

  private constructor(parts: {
    readonly databaseUrl: string;
    readonly ports: readonly [number, number, number];
    readonly agentPort: number;
    readonly settings: Readonly<Record<string, string>>;
    readonly upstream: Upstream;
    readonly program: Program;
  }) {
    this.databaseUrl = parts.databaseUrl;
    this.agentPort = parts.agentPort;
    this.upstream = parts.upstream;
    this.#ports = parts.ports;
    this.#settings = parts.settings;
    this.#program = parts.program;
  }

  static async start(databaseUrl: string, more: Readonly<Record<string, string>> = {}): Promise<Served> {
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const agentPort = await freePort();
    const firstTcpPort = await freePorts(tcpPorts);
    const settings = {
      'agent-listen': `127.0.0.1:${agentPort}`,
      'agent-url-port': '443',
      // A busy machine takes longer than the usual ten.
      'agent-auth-seconds': '60',
      'tcp-ports': `${firstTcpPort}-${firstTcpPort + tcpPorts - 1}`,
      'drain-seconds': '0',
      'auth-failures': 'off',
      'access-log': '0',
      // Under this name the library takes the numbers of errors for codes.
      vendor: 'ngrok',
      ...more,
    };
    const program = await Program.start(databaseUrl, settings, { ports });
    const upstream = await startUpstream();
    const served = new Served({ databaseUrl, ports, agentPort, settings, upstream, program });
    served.#ca = await program.must('GET', '/local_ca.pem');
    return served;
  }

  get program(): Program {
    return this.#program;
  }

  /** The local CA's certificate, as an operator hands it to agents. */
  get ca(): string {
    return this.#ca;
  }

  /** Creates a credential and returns its token. */
  async newToken(apiToken?: string): Promise<string> {
    return (await this.newCredential({}, apiToken)).token;
  }

  async newCredential(body: object = {}, apiToken?: string): Promise<{ readonly id: string; readonly token: string }> {
    return this.program.must('POST', '/credentials', body, apiToken);
  }

  /** Creates an account and returns the API token of its admin. */
  newAccount(name: string): Promise<string> {
    return createAccount(this.databaseUrl, name);
  }

  /** Starts the library with one listener for each configuration; by default they lead to the upstream. */
  async agent(
    token: string,
    listeners: readonly PlainConfig[],
    { session = {}, ...more }: Partial<AgentOrder> = {},
  ): Promise<LibraryAgent> {
    const agent = await LibraryAgent.start({
      ...more,
      session: {
        authtoken: token,
        server_addr: `localhost:${this.agentPort}`,
        session_ca_cert: this.ca,
        ...session,
      },
      listeners: listeners.map((each) => ({ addr: `127.0.0.1:${this.upstream.port}`, ...each })),
    });
    this.#owned.push(agent);
    return agent;
  }

  /** Visits a name at the HTTPS listener. */
  ask(hostname: string, asking: Asking = {}): Promise<Answered> {
    return askHttps(this.program.httpsPort, hostname, asking);
  }

  askPort(port: number, asking: Asking = {}): Promise<Answered> {
    return askTcp(port, asking);
  }

  /** Starts the program again at the same addresses, after it was killed. */
  async startAgain(): Promise<void> {
    this.#program = await Program.start(this.databaseUrl, this.#settings, { ports: this.#ports });
  }

  /** Kills the agents that a test has left, and waits until the program has noticed. */
  async clear(): Promise<void> {
    await this.#killAgents();
    const isEmpty = async () => (await this.program.must('GET', '/tunnel_sessions')).tunnel_sessions.length === 0;
    await until(isEmpty, 'no session is left');
  }

  async #killAgents(): Promise<void> {
    for (const agent of this.#owned.splice(0)) await agent[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#killAgents();
    await this.program[Symbol.asyncDispose]();
    await this.upstream[Symbol.asyncDispose]();
  }
}

/** Runs the suite with one program for all its tests; in the long form once for each kind of database. */
export function onServed(
  name: string,
  suite: (served: () => Served) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  onAnyDatabase(name, (newDatabase) => {
    describe('with one program', () => {
      let served: Served | undefined;
      before(async () => {
        served = await Served.start(await newDatabase(), settings);
      });
      afterEach(() => served?.clear());
      after(() => served?.[Symbol.asyncDispose]());
      suite(() => served ?? assert.fail('the program runs only while tests do'));
    });
  });
}
