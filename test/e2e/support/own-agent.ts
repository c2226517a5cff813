import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../../support/free-port.ts';
import { GatehouseProcess } from '../../support/gatehouse-process.ts';
import type { Ended } from '../../support/gatehouse-process.ts';
import { workersBeside } from '../../support/program-file.ts';
import { Program } from '../gateway/support/program.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import type { Answered, Asking } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';

const endLimitMs = 300_000;

/** The program as a server of agents, and our own agent as its users run it. */
export class AgentServer implements AsyncDisposable {
  readonly agentPort: number;
  readonly httpsPort: number;
  readonly caFile: string;
  readonly folder: string;
  /** Token of a credential. */
  token = '';
  readonly #running: GatehouseProcess[] = [];
  #program: Program | undefined;

  /** The folder is that of its files, and of the settings of agents. */
  static async start(folder: string): Promise<AgentServer> {
    const server = new AgentServer(folder, await freePort(), await freePort());
    await server.serve();
    server.token = (await server.program.must('POST', '/credentials', {})).token;
    const ca = await fetch(`http://127.0.0.1:${server.program.apiPort}/local_ca.pem`);
    writeFileSync(server.caFile, await ca.text());
    return server;
  }

  private constructor(folder: string, agentPort: number, httpsPort: number) {
    this.agentPort = agentPort;
    this.httpsPort = httpsPort;
    this.folder = folder;
    this.caFile = join(this.folder, 'ca.pem');
  }

  get #databaseUrl(): string {
    return `sqlite:${join(this.folder, 'gatehouse.db')}`;
  }

  get program(): Program {
    if (this.#program === undefined) throw new Error('the server does not run');
    return this.#program;
  }

  /** Starts the server, or starts it again on the same ports and database. */
  async serve(): Promise<void> {
    this.#program = await Program.start(this.#databaseUrl, {
      'agent-listen': `127.0.0.1:${this.agentPort}`,
      'https-listen': `127.0.0.1:${this.httpsPort}`,
      'agent-url-port': '443',
      'drain-seconds': '1',
      workers: workersBeside,
    });
  }

  /** Variables with which an agent finds the server and is let in. */
  get variables(): Readonly<Record<string, string>> {
    return {
      XDG_CONFIG_HOME: this.folder,
      GATEHOUSE_SERVER: `127.0.0.1:${this.agentPort}`,
      GATEHOUSE_CA: this.caFile,
      GATEHOUSE_AUTHTOKEN: this.token,
    };
  }

  /** Starts an agent; it is ended with the server. */
  agent(args: readonly (string | number)[], variables: Readonly<Record<string, string>> = {}): GatehouseProcess {
    const agent = new GatehouseProcess(args.map(String), { ...this.variables, ...variables });
    this.#running.push(agent);
    return agent;
  }

  /** Starts an agent and returns it with its public address. */
  async online(
    args: readonly (string | number)[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly agent: GatehouseProcess; readonly address: string }> {
    const agent = this.agent(args, variables);
    return { agent, address: await addressOf(agent) };
  }

  /** Asks as a visitor of an HTTP endpoint. */
  visit(address: string, asking: Asking = {}): Promise<Answered> {
    return askHttps(this.httpsPort, new URL(address).hostname, asking);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#running) await agent[Symbol.asyncDispose]();
    await this.#program?.[Symbol.asyncDispose]();
  }
}

/** Waits for the public address that an agent prints, for the `times`th time. */
export function addressOf(agent: GatehouseProcess, times = 1): Promise<string> {
  const former = `(?:^\\S+ online [^]*?){${times - 1}}`;
  return agent.printed(new RegExp(`${former}^\\S+ online (\\S+) -> `, 'm'));
}

/** Waits until an agent has ended by itself. */
export async function ended(agent: GatehouseProcess): Promise<Ended> {
  await until(
    () => agent.child.exitCode !== null || agent.child.signalCode !== null,
    () => `ended: ${agent.out}`,
    endLimitMs,
  );
  return agent.ended();
}
