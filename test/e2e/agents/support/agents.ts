import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { buffer } from 'node:stream/consumers';

import ngrok from '@ngrok/ngrok';
import type { Session } from '@ngrok/ngrok';

import { freePort } from '../../../support/free-port.ts';
import { Program } from '../../gateway/support/program.ts';

/** A program to which agents connect. */
export interface AgentProgram {
  readonly program: Program;
  readonly agentPort: number;
}

export interface Place {
  /** Address of its listeners, those of TCP edges among them; default 127.0.0.1. */
  readonly host?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts the program with a listener of agents. Stopping it does not wait for visitors. */
export async function startForAgents(
  owner: AsyncDisposableStack,
  databaseUrl: string,
  { host = '127.0.0.1', settings = {} }: Place = {},
): Promise<AgentProgram> {
  const agentPort = await freePort();
  const program = await Program.start(
    databaseUrl,
    {
      'agent-listen': `${host}:${agentPort}`,
      'agent-url-port': '443',
      'tcp-listen-host': host,
      'drain-seconds': '0',
      vendor: 'ngrok',
      ...settings,
    },
    { host },
  );
  owner.use(program);
  return { program, agentPort };
}

/** Credentials for an agent, of the API of this program. */
export async function agentAccess(api: Program): Promise<AgentAccess> {
  const { token } = await api.must('POST', '/credentials', {});
  const ca = await (await fetch(`http://127.0.0.1:${api.apiPort}/local_ca.pem`)).text();
  return { token, ca };
}

export interface AgentAccess {
  readonly token: string;
  readonly ca: string;
}

/** The unmodified library of the hosted service, connected. */
export async function connectLibrary(
  owner: AsyncDisposableStack,
  server: string,
  { token, ca }: AgentAccess,
): Promise<Session> {
  const session = await new ngrok.SessionBuilder()
    .authtoken(token)
    .serverAddr(server)
    .caCert(Buffer.from(ca))
    .connect();
  owner.defer(async () => {
    for (const listener of await session.listeners()) await listener.close();
    await session.close();
  });
  return session;
}

/** A TCP server that sends back what it gets, each direction with its own end. */
export async function echoPort(owner: AsyncDisposableStack): Promise<number> {
  return listen(
    owner,
    createServer({ allowHalfOpen: true }, (socket) => void socket.on('error', () => {}).pipe(socket)),
  );
}

export async function listen(owner: AsyncDisposableStack, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  owner.defer(() => void server.close());
  // A server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

/** Sends the bytes to a TCP endpoint, and returns those that came back until the end. */
export async function exchange(host: string, port: number, sent: Buffer): Promise<Buffer> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.end(sent);
  return buffer(socket);
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
