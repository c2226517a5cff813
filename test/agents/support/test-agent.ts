import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { HeartbeatEcho } from '../../../src/agents/mux/heartbeat.ts';
import { MuxSession } from '../../../src/agents/mux/mux-session.ts';
import type { MuxOptions, SessionEnd } from '../../../src/agents/mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../../../src/agents/mux/mux-stream.ts';
import { callPeer, RpcRequest } from '../../../src/agents/mux/rpc.ts';
import { StreamStart } from '../../../src/agents/mux/typed-stream.ts';
import { streamTypes } from '../../../src/agents/wire/stream-types.ts';
import { caPem } from './listener.ts';

type Message = Readonly<Record<string, unknown>>;

const agentOptions: MuxOptions = {
  role: 'client',
  maxLocalStreams: 4096,
  maxRemoteStreams: 4096,
  maxUnreadBytes: 64 * 1024 * 1024,
  carriesAcks: false,
};

export interface AgentBehaviour {
  /** Takes streams of visitors, from behind their type on. */
  readonly visitor?: (stream: MuxStream) => StreamReceiver;
  /** Answers commands; without it they are never answered. */
  readonly command?: (type: number, message: Message) => object;
  readonly heartbeats?: boolean;
}

/** Limit for an answer, beyond the needs of the busiest machine. */
const answerMs = 120_000;

/** An agent made of the client side of our own code. */
export class TestAgent {
  readonly socket: TLSSocket;
  readonly mux: MuxSession;
  readonly ended: Promise<SessionEnd>;

  constructor(socket: TLSSocket, behaviour: AgentBehaviour = {}) {
    this.socket = socket;
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.ended = promise;
    this.mux = new MuxSession(socket, agentOptions, {
      accept: (stream) => new StreamStart(stream, (type) => choose(type, stream, behaviour)),
      closed: resolve,
    });
  }

  call(type: keyof typeof streamTypes, body: object): Promise<Message> {
    return callPeer(this.mux, streamTypes[type], body, answerMs);
  }

  auth(token: string, known: { readonly clientId?: string; readonly cookie?: string } = {}): Promise<Message> {
    return this.call('auth', authBody(token, known));
  }

  bind(
    domain: string,
    more: { readonly opts?: object; readonly extra?: object; readonly id?: string } = {},
  ): Promise<Message> {
    return this.call('bind', bindBody(domain, more));
  }
}

export function authBody(token: string, known: { readonly clientId?: string; readonly cookie?: string } = {}): object {
  const { clientId = '', cookie = '' } = known;
  return {
    Version: ['3', '2'],
    ClientId: clientId,
    Extra: { AuthToken: token, Cookie: cookie, ClientType: 'test-go', OS: 'linux', StopUnsupportedError: '' },
  };
}

export function bindBody(
  domain: string,
  { opts = {}, extra = {}, id = '' }: { readonly opts?: object; readonly extra?: object; readonly id?: string } = {},
): object {
  return {
    Id: id,
    Proto: 'https',
    ForwardsTo: 'localhost:80',
    Opts: { Domain: domain, ...opts },
    Extra: { Token: '', ...extra },
  };
}

function choose(
  type: number,
  stream: MuxStream,
  { visitor, command, heartbeats = true }: AgentBehaviour,
): StreamReceiver {
  if (type === streamTypes.heartbeat && heartbeats) return new HeartbeatEcho(stream);
  if (type === streamTypes.proxy && visitor !== undefined) return visitor(stream);
  if (type === streamTypes.heartbeat || type === streamTypes.proxy || command === undefined) return silent;
  return new RpcRequest(
    stream,
    { answer: async (message) => command(type, message), answerFault: (fault) => ({ Error: fault }) },
    { maxBytes: 65_536, timeoutMs: 120_000 },
  );
}

const silent: StreamReceiver = { onBytes: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: () => {} };

export async function connectTls(port: number, localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const tcp = connectTcp({ host: '127.0.0.1', port, localAddress });
  const socket = connect({ socket: tcp, servername: 'localhost', ca: caPem });
  await once(socket, 'secureConnect');
  return socket.setNoDelay(true).on('error', () => {});
}

export async function connectAgent(
  port: number,
  behaviour: AgentBehaviour = {},
  localAddress?: string,
): Promise<TestAgent> {
  return new TestAgent(await connectTls(port, localAddress), behaviour);
}
