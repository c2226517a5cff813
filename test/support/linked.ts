import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';

import { LinkServer } from '../../src/links/link-server.ts';
import { Link, openDuplex } from '../../src/links/link.ts';
import type { LinkOptions } from '../../src/links/link.ts';
import { StreamRefused } from '../../src/links/stream-request.ts';
import type { OpenStream, StreamRequest } from '../../src/links/stream-request.ts';
import { startSide } from '../agents/support/mux-peers.ts';
import type { Side } from '../agents/support/mux-peers.ts';

export const request: StreamRequest = {
  tunnelId: 'tn_1',
  holder: 'proc_1',
  address: '192.0.2.7:1234',
  proto: 'tcp',
  isTls: false,
};

/** A link, and an agent behind its other end, all over sockets. */
export interface Linked {
  readonly link: Link;
  readonly server: LinkServer;
  /** Streams as the agent gets them. */
  readonly agent: Side;
  /** The session of that agent, as its holder has it. */
  readonly session: Side;
  readonly requests: StreamRequest[];
  readonly overruns: string[];
  readonly ends: string[];
  /** Both sockets of the link. */
  readonly sockets: readonly [Socket, Socket];
  dial(more?: Partial<StreamRequest>, limitMs?: number): Promise<Duplex>;
}

export async function startLinked(
  t: TestContext,
  options: Partial<LinkOptions> & { readonly open?: OpenStream; readonly slowAgent?: boolean } = {},
): Promise<Linked> {
  const { open, slowAgent = false, ...more } = options;
  const [near, far] = await socketPair(t);
  const [holder, behind] = await socketPair(t);
  const mux = { maxLocalStreams: 5000, maxRemoteStreams: 5000, maxUnreadBytes: 2 ** 28, carriesAcks: false };
  const session = startSide(holder, { ...mux, role: 'server' });
  const agent = startSide(behind, { ...mux, role: 'client' }, slowAgent);
  const requests: StreamRequest[] = [];
  const overruns: string[] = [];
  const ends: string[] = [];
  const common = (side: string): LinkOptions => ({
    maxUnreadBytes: 2 ** 28,
    overrun: () => overruns.push(side),
    closed: (reason) => ends.push(`${side}: ${reason}`),
    ...more,
  });
  const server = new LinkServer(far, {
    ...common('server'),
    open:
      open ??
      (async (asked, user) => {
        requests.push(asked);
        const stream = session.mux.open(user, Buffer.from('hello '));
        if (stream === undefined) throw new StreamRefused('full', 'no room');
        user.attach(stream);
      }),
  });
  const link = new Link(near, common('client'));
  const dial = async (other: Partial<StreamRequest> = {}, limitMs = 20_000): Promise<Duplex> => {
    const asked = { ...request, ...other };
    const duplex = await openDuplex((each, user) => link.open(each, user, limitMs), asked, { allowHalfOpen: true });
    return duplex.on('error', () => {});
  };
  return { link, server, agent, session, requests, overruns, ends, sockets: [near, far], dial };
}

export async function socketPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer({ noDelay: true, allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this form.
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  // The event brings a socket.
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  t.after(() => {
    client.destroy();
    accepted.destroy();
  });
  return [client.on('error', () => {}), accepted.on('error', () => {})];
}
