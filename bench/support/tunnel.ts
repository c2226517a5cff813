import { newDatabaseFile, Gatehouse } from './gatehouse.ts';
import { loadCores } from './cores.ts';
import { HttpConnection } from './http-connection.ts';
import { freePort, Process } from './process.ts';

/** A Gatehouse that agents connect to, with an agent of the unmodified library before an upstream. */
export interface Tunnel extends AsyncDisposable {
  readonly gatehouse: Gatehouse;
  readonly agentPort: number;
  /** Port of the TCP endpoint that leads through the agent. */
  readonly port: number;
  /** Kills the server and starts it again at the same addresses; resolves with the seconds until a visitor is served. */
  killAndRecover(): Promise<number>;
}

const agentProgram = new URL('../servers/library-agent.ts', import.meta.url).pathname;

export async function startTunnel(upstreamPort: number): Promise<Tunnel> {
  await using started = new AsyncDisposableStack();
  const agentPort = await freePort();
  const start = await startForAgents(agentPort);
  let gatehouse = await start();
  started.defer(() => gatehouse[Symbol.asyncDispose]());
  const agent = started.use(startAgent(agentPort, await agentAccess(gatehouse), upstreamPort));
  const port = await endpointPort(agent);
  const owned = started.move();
  return {
    get gatehouse() {
      return gatehouse;
    },
    agentPort,
    port,
    async killAndRecover() {
      const startMs = performance.now();
      gatehouse.process.signal('SIGKILL');
      gatehouse = await start();
      await gatehouse.process.until(() => visit(port), 150_000);
      return (performance.now() - startMs) / 1000;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns a function that starts it, each time over the same database and at the same address for agents. */
export async function startForAgents(agentPort: number): Promise<() => Promise<Gatehouse>> {
  const databaseFile = await newDatabaseFile();
  const settings = {
    'agent-listen': `127.0.0.1:${agentPort}`,
    'agent-max-sessions': '100000',
    'tcp-ports': '20000-20999',
  };
  return () => Gatehouse.start({ databaseFile, settings });
}

/** The unmodified library in a process of its own, with a TCP endpoint that leads to the upstream. */
export function startAgent(agentPort: number, { token, ca }: AgentAccess, upstreamPort: number): Process {
  const given = [`localhost:${agentPort}`, ca, token, `127.0.0.1:${upstreamPort}`];
  return new Process([process.execPath, agentProgram, ...given], { cores: loadCores });
}

export async function endpointPort(agent: Process): Promise<number> {
  return Number(await said(agent, /^URL \S+:(\d+)$/m));
}

interface AgentAccess {
  readonly token: string;
  readonly ca: string;
}

export async function agentAccess(gatehouse: Gatehouse): Promise<AgentAccess> {
  const { token } = await gatehouse.call('POST', '/credentials', {});
  const ca = await (await fetch(`http://127.0.0.1:${gatehouse.apiPort}/local_ca.pem`)).text();
  return { token: String(token), ca };
}

/** Waits until the program has printed the pattern, and returns its first group. */
export async function said(program: Process, pattern: RegExp): Promise<string> {
  await program.until(async () => {
    if (!pattern.test(program.output)) throw new Error('not yet');
  }, 300_000);
  return pattern.exec(program.output)?.[1] ?? '';
}

/** Sends one request through a TCP endpoint; rejects if it is not served. */
export async function visit(port: number): Promise<void> {
  const connection = await HttpConnection.open({ port });
  try {
    const { status } = await connection.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    if (status !== 200) throw new Error(`status ${status}`);
  } finally {
    connection.close();
  }
}
