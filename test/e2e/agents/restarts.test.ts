import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Agent } from 'node:https';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../../support/free-port.ts';
import { rounds } from '../../support/long-form.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { Program } from '../gateway/support/program.ts';
import { askHttps, askTcp } from '../gateway/support/traffic.ts';
import type { Answered } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { agentAccess, connectLibrary, listen } from './support/agents.ts';
import { Balancer } from './support/balancer.ts';

/** Processes of an installation are restarted one after another, and no visitor of an agent notices. */

const hosts = ['127.0.0.1', '127.0.0.2'] as const;
const name = 'shop.localhost';

/** A process that can be stopped as operators do it, and started again at the same addresses. */
class Restartable implements AsyncDisposable {
  readonly #start: () => Promise<Program>;
  #program: Program;

  private constructor(start: () => Promise<Program>, program: Program) {
    this.#start = start;
    this.#program = program;
  }

  static async start(
    databaseUrl: string,
    settings: Readonly<Record<string, string>>,
    host: string,
    ports: readonly [number, number, number],
  ): Promise<Restartable> {
    const start = (): Promise<Program> => Program.start(databaseUrl, settings, { host, ports });
    return new Restartable(start, await start());
  }

  get program(): Program {
    return this.#program;
  }

  async restart(): Promise<void> {
    this.#program.signal('SIGTERM');
    assert.equal(await this.#program.exited, 0);
    const faults = this.#program.output.split('\n').filter((line) => line.includes('"level":50'));
    assert.deepEqual(faults, [], 'the program logged an error');
    this.#program = await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

/** Visitors who come one after another, each when the one before was answered. */
class Visitors {
  readonly failures: string[] = [];
  answered = 0;
  #stopping = false;
  readonly #all: Promise<void>[] = [];

  add(kind: string, visit: (at: number) => Promise<Answered>): void {
    this.#all.push(this.#repeat(kind, visit));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#all);
  }

  async #repeat(kind: string, visit: (at: number) => Promise<Answered>): Promise<void> {
    for (let at = 0; !this.#stopping; at++) {
      try {
        const { status, text } = await visit(at);
        if (status !== 200 || text !== `/${at}`) throw new Error(`${status} ${text.slice(0, 200)}`);
        this.answered += 1;
      } catch (error) {
        this.failures.push(`${kind} ${at}: ${String(error)}`);
      }
      // Often enough to notice a restart, and seldom enough to leave the machine to it.
      await sleep(40);
    }
  }
}

/** Asks over a connection that was kept. One that was closed while it was idle is replaced, as browsers do. */
async function askKept(port: number, path: string, agent: Agent): Promise<Answered> {
  for (;;) {
    const isReused = Object.keys(agent.freeSockets).length > 0;
    try {
      return await askHttps(port, name, { path, agent });
    } catch (error) {
      if (!isReused) throw error;
    }
  }
}

/**
 * A connection that waits to be accepted when a listener closes is reset by the system: its visitor, who has sent no
 * request yet, connects again.
 */
function askNew(port: number, path: string): Promise<Answered> {
  return askHttps(port, name, { path }).catch((error: unknown) => {
    if (!String(error).includes('disconnected before secure TLS connection')) throw error;
    return askHttps(port, name, { path });
  });
}

/** As for a new HTTPS connection, but nobody sees whether the request was sent; so a visitor of a port tries twice. */
function askRaw(port: number, path: string): Promise<Answered> {
  return askTcp(port, { path }).catch(() => askTcp(port, { path }));
}

interface Installation {
  readonly gateways: readonly Restartable[];
  readonly holders: readonly Restartable[];
  readonly visitors: Visitors;
  /** Waits until so many more visitors were answered, or some failed. */
  readonly more: (count: number) => Promise<void>;
}

/** An API, two gateways behind balancers, and processes that hold sessions behind another; visitors come all the time. */
async function startInstallation(owner: AsyncDisposableStack, holderCount: number): Promise<Installation> {
  const databaseUrl = await usePostgres(owner);
  const common = {
    'drain-seconds': '30',
    'access-log': '0',
    vendor: 'ngrok',
    'agent-url-port': '443',
    'agent-wait': '60',
  };
  const api = owner.use(await Program.start(databaseUrl, { ...common, role: 'api' }));
  const places: { readonly host: string; readonly port: number }[] = [];
  const holders: Restartable[] = [];
  for (let at = 0; at < holderCount; at++) {
    const port = await freePort();
    places.push({ host: '127.0.0.1', port });
    const settings = { ...common, role: 'agents', 'agent-listen': `127.0.0.1:${port}` };
    holders.push(owner.use(await Restartable.start(databaseUrl, settings, '127.0.0.1', await freePorts())));
  }
  const agents = owner.use(await Balancer.before(places));
  const ports = await freePorts();
  const gateways: Restartable[] = [];
  for (const host of hosts) {
    const settings = { ...common, role: 'gateway', 'agent-listen': 'off', 'tcp-listen-host': host };
    gateways.push(owner.use(await Restartable.start(databaseUrl, settings, host, ports)));
  }
  const upstream = await listen(
    owner,
    createServer((request, response) => void setTimeout(() => response.end(request.url), 5)),
  );
  const session = await connectLibrary(owner, `localhost:${agents.port}`, await agentAccess(api));
  await session.httpEndpoint().domain(name).listenAndForward(`http://127.0.0.1:${upstream}`);
  const tcp = await session.tcpEndpoint().listenAndForward(`tcp://127.0.0.1:${upstream}`);
  const tcpPort = Number(new URL(tcp.url() ?? '').port);
  const [https, raw] = [ports[1], tcpPort].map((port) => hosts.map((host) => ({ host, port })));
  const toHttps = owner.use(await Balancer.before(https ?? []));
  const toTcp = owner.use(await Balancer.before(raw ?? []));
  const visitors = new Visitors();
  owner.defer(() => visitors.stop());
  for (const host of hosts) {
    await until(() => isServed(() => askHttps(ports[1], name, { to: host })), `${host} serves the name`);
    await until(() => isServed(() => askTcp(tcpPort, { to: host })), `${host} serves the port`);
  }
  for (let client = 0; client < 2; client++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    owner.defer(() => {
      agent.destroy();
    });
    visitors.add('kept-alive', (at) => askKept(toHttps.port, `/${at}`, agent));
    visitors.add('new connection', (at) => askNew(toHttps.port, `/${at}`));
    visitors.add('TCP', (at) => askRaw(toTcp.port, `/${at}`));
  }
  const more = async (count: number): Promise<void> => {
    const goal = visitors.answered + count;
    await until(() => visitors.answered >= goal || visitors.failures.length > 0, `${count} more visitors`);
  };
  return { gateways, holders, visitors, more };
}

async function freePorts(): Promise<readonly [number, number, number]> {
  return [await freePort(), await freePort(), await freePort()];
}

async function isServed(visit: () => Promise<Answered>): Promise<boolean> {
  return visit().then(
    ({ status }) => status === 200,
    () => false,
  );
}

suite('an installation whose processes restart one after another', () => {
  const programs = new AsyncDisposableStack();
  let installation: Installation;
  before(async () => {
    installation = await startInstallation(programs, 2);
  });
  after(() => programs.disposeAsync());

  /** Restarts them while visitors come, none of whom may fail. */
  async function restartAll(t: TestContext, chosen: readonly Restartable[]): Promise<void> {
    const { visitors, more } = installation;
    for (const each of chosen) {
      await more(50);
      await each.restart();
    }
    await more(50);
    t.diagnostic(`${visitors.answered} requests`);
    assert.deepEqual(visitors.failures.slice(0, 10), []);
  }

  test('no request through an agent fails while gateways do', async (t) => {
    const { gateways, holders } = installation;
    for (let round = 0; round < rounds(1, 10); round++) await restartAll(t, gateways);
    const logged = (message: string) => holders.flatMap(({ program }) => program.logged(message)).length;
    assert.deepEqual([logged('agent connected'), logged('agent disconnected')], [1, 0]);
  });

  test('requests wait for the agent to move while processes that hold sessions do', async (t) => {
    const { holders, visitors } = installation;
    await restartAll(t, holders);
    await visitors.stop();
    assert.deepEqual(visitors.failures, []);
  });
});
