import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import net from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import ngrok from '@ngrok/ngrok';

import { usualTimes } from '../../../src/agent-client/agent.ts';
import { freePort } from '../../support/free-port.ts';
import { GatehouseProcess } from '../../support/gatehouse-process.ts';
import { newSqlite, scratchFolder } from '../../support/scratch.ts';
import { Program } from '../gateway/support/program.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { agentAccess, listen } from './support/agents.ts';

/** The service restarts: a new process on the same ports and database, for whose start nothing promises any time. */

const settings = { vendor: 'ngrok', 'agent-url-port': '443', 'drain-seconds': '60', 'agent-wait': '60' };

/** An upstream that answers its path; `/wait` when it is told to. */
async function startUpstream(owner: AsyncDisposableStack) {
  const waiting = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url === '/wait') waiting.resolve(response);
    else response.end(request.url);
  });
  return { port: await listen(owner, server), waiting: waiting.promise };
}

/**
 * A socket that is bound here, as systemd does it, and accepted from by whoever gets its descriptor. A server of Node's would
 * accept by itself, so it is made by the function that servers of Node are made by.
 */
function keepSocket(owner: AsyncDisposableStack, port: number): number {
  const { _createServerHandle: bind } = net as unknown as {
    readonly _createServerHandle: (host: string, port: number, family: 4) => { readonly fd: number; close(): void };
  };
  const handle = bind('127.0.0.1', port, 4);
  owner.defer(() => {
    handle.close();
  });
  return handle.fd;
}

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      resolve(false);
      socket.destroy();
    });
    socket.on('error', () => {
      resolve(true);
    });
  });
}

/** Stands before the port of agents, for one of them. While the service is away it resets connections, as the system does. */
class Doorway implements AsyncDisposable {
  readonly #server: net.Server;
  #target: number;
  #resets = 0;
  /** Connections so far. */
  attempts = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = net.createServer((socket) => this.#lead(socket));
  }

  static async before(owner: AsyncDisposableStack, target: number): Promise<Doorway> {
    const doorway = owner.use(new Doorway(target));
    await new Promise<void>((resolve) => {
      doorway.#server.listen(0, '127.0.0.1', resolve);
    });
    return doorway;
  }

  get address(): string {
    const address = this.#server.address();
    return `localhost:${typeof address === 'object' ? address?.port : ''}`;
  }

  /** So many attempts miss the service, which then is at another port: to be ready in time is not what is tested. */
  replace(target: number, resets: number): void {
    this.#target = target;
    this.#resets = resets;
  }

  #lead(socket: net.Socket): void {
    this.attempts += 1;
    socket.on('error', () => {});
    if (this.#resets > 0) {
      this.#resets -= 1;
      socket.resetAndDestroy();
      return;
    }
    const through = net.connect(this.#target, '127.0.0.1');
    through.on('error', () => {}).on('close', () => socket.destroy());
    socket.on('close', () => through.destroy());
    socket.pipe(through).pipe(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }
}

async function startOwnAgent(
  owner: AsyncDisposableStack,
  target: number,
  server: string,
  access: { ca: string; token: string },
) {
  const ca = join(scratchFolder(), 'ca.pem');
  await writeFile(ca, access.ca);
  const variables = { GATEHOUSE_AUTHTOKEN: access.token, GATEHOUSE_CA: ca, GATEHOUSE_SERVER: server };
  const agent = owner.use(
    new GatehouseProcess(['http', String(target), '--domain', 'own.localhost', '--log', 'json'], variables),
  );
  await agent.printed(/"(online)"/);
  return agent;
}

test('with a socket that outlives the service, agents wait and are back at their first attempt', async () => {
  await using owner = new AsyncDisposableStack();
  const upstream = await startUpstream(owner);
  const port = await freePort();
  const agentSocket = keepSocket(owner, port);
  const databaseUrl = newSqlite();
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const flags = { ...settings, 'agent-listen': `127.0.0.1:${port}` };
  const start = async () => owner.use(await Program.start(databaseUrl, flags, { ports, agentSocket }));
  const first = await start();
  const access = await agentAccess(first);
  let attempts = 0;
  const session = await new ngrok.SessionBuilder()
    .authtoken(access.token)
    .serverAddr(`localhost:${port}`)
    .caCert(Buffer.from(access.ca))
    .handleDisconnection(() => {
      attempts += 1;
      return true;
    })
    .connect();
  owner.defer(() => session.close());
  await session.httpEndpoint().domain('library.localhost').listenAndForward(`http://127.0.0.1:${upstream.port}`);
  const own = await startOwnAgent(owner, upstream.port, `127.0.0.1:${port}`, access);

  const visitor = askHttps(ports[1], 'library.localhost', { path: '/wait' });
  const held = await upstream.waiting;
  const awayMs = performance.now();
  first.signal('SIGTERM');
  await until(() => refuses(ports[1]), 'visitors are let in no more');
  assert.equal(first.logged('agent disconnected').length, 0);
  held.end('at last');
  assert.equal((await visitor).text, 'at last');
  assert.equal(await first.exited, 0);
  await until(() => first.logged('agent disconnected').length === 2, 'the log says that both have left');
  await start();
  for (const name of ['library.localhost', 'own.localhost'])
    assert.equal((await askHttps(ports[1], name, { path: `/${name}` })).text, `/${name}`);
  assert.equal(attempts, 1);
  // Our own agent gives an attempt up after ten seconds: where the service was away for longer, and for no other reason, it made more.
  const reasons = own.out
    .matchAll(/"reason":"([^"]*)"/g)
    .map(([, reason]) => reason)
    .toArray();
  const unanswered = reasons.filter((reason) => reason?.endsWith('it does not answer'));
  assert.ok(unanswered.length * usualTimes.connectMs <= performance.now() - awayMs, own.out);
  assert.equal(reasons.length, 1 + unanswered.length, own.out);
  assert.equal(own.out.match(/"connecting"/g)?.length, 2 + unanswered.length);
});

test('without one, our own agent looks for the service each second, and is back with its name', async () => {
  await using owner = new AsyncDisposableStack();
  const upstream = await startUpstream(owner);
  const databaseUrl = newSqlite();
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const flags = { ...settings, 'agent-listen': `127.0.0.1:${await freePort()}` };
  const start = async () => owner.use(await Program.start(databaseUrl, flags, { ports }));
  const first = await start();
  const own = await startOwnAgent(owner, upstream.port, flags['agent-listen'], await agentAccess(first));
  first.signal('SIGKILL');
  await first.exited;
  await own.printed(/"(offline)"/);
  await start();
  assert.equal((await askHttps(ports[1], 'own.localhost', { path: '/back' })).text, '/back');
  const waits = own.out.matchAll(/"retry_ms":(\d+)/g).map(([, ms]) => Number(ms));
  assert.ok(
    waits.take(10).every((ms) => ms <= 1000),
    own.out,
  );
});

test('without one, the third attempts of the library and of our own agent find the service that two have missed', async () => {
  await using owner = new AsyncDisposableStack();
  const upstream = await startUpstream(owner);
  const databaseUrl = newSqlite();
  const agentPorts = [await freePort(), await freePort()] as const;
  const start = async (agentPort: number) =>
    owner.use(await Program.start(databaseUrl, { ...settings, 'agent-listen': `127.0.0.1:${agentPort}` }));
  const before = await start(agentPorts[0]);
  const after = await start(agentPorts[1]);
  const access = await agentAccess(before);
  const [ofLibrary, ofOwn] = [await Doorway.before(owner, agentPorts[0]), await Doorway.before(owner, agentPorts[0])];
  const session = await new ngrok.SessionBuilder()
    .authtoken(access.token)
    .serverAddr(ofLibrary.address)
    .caCert(Buffer.from(access.ca))
    .connect();
  owner.defer(() => session.close());
  await session.httpEndpoint().domain('library.localhost').listenAndForward(`http://127.0.0.1:${upstream.port}`);
  await startOwnAgent(owner, upstream.port, ofOwn.address, access);
  assert.deepEqual([ofLibrary.attempts, ofOwn.attempts], [1, 1]);

  // At once and a moment later. The library comes for the third time after 2.6 s, and then only after two minutes.
  for (const doorway of [ofLibrary, ofOwn]) doorway.replace(agentPorts[1], 2);
  before.signal('SIGTERM');
  assert.equal(await before.exited, 0);
  await until(() => after.logged('agent connected').length === 2, 'both are back');
  assert.deepEqual([ofLibrary.attempts, ofOwn.attempts], [4, 4]);
  for (const name of ['library.localhost', 'own.localhost']) {
    const answer = () => askHttps(after.httpsPort, name, { path: '/back' }).then(({ text }) => text, String);
    await until(async () => (await answer()) === '/back', `${name} is served`);
  }
});
