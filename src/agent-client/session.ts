import type { Duplex } from 'node:stream';

import { Heartbeat, HeartbeatEcho } from '../agents/mux/heartbeat.ts';
import type { HeartbeatTimes } from '../agents/mux/heartbeat.ts';
import { MuxSession } from '../agents/mux/mux-session.ts';
import type { MuxOwner, SessionEnd } from '../agents/mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { callPeer, RpcFailed, RpcRequest } from '../agents/mux/rpc.ts';
import { StreamStart } from '../agents/mux/typed-stream.ts';
import { parseErrorText, readError, readStopTunnel } from '../agents/wire/commands.ts';
import { codes } from '../agents/wire/frame.ts';
import { streamTypes } from '../agents/wire/stream-types.ts';
import { ServerFault } from './connect-server.ts';
import { Refused } from './refusals.ts';

type Message = Readonly<Record<string, unknown>>;

export interface SessionTimes {
  /** Limit for the answer to a message. */
  readonly answerMs: number;
  readonly heartbeat: HeartbeatTimes;
}

/** Ends a session, or makes the agent end it. */
export type SessionOutcome =
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'stop' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'tunnel stopped'; readonly text: string; readonly code: number | undefined };

export const updateRefusal = 'this agent does not update itself: update the package it was installed with';

/** The server opens a stream for each visitor, up to a setting of its own. */
const maxVisitors = 65_536;
/** Bytes that slow programs behind this agent may leave unread, in all. */
const maxUnreadBytes = 64 * 1024 * 1024;
const ownStreams = 64;
const commandLimits = { maxBytes: 64 * 1024, timeoutMs: 10_000 };

/** One connection to the server, seen from the agent. */
export class Session implements MuxOwner {
  /** Resolves when the session is over, or when the server wants the agent to do something about it. */
  readonly outcome: Promise<SessionOutcome>;
  /** Resolves when the connection is over. */
  readonly over: Promise<void>;
  readonly #mux: MuxSession;
  readonly #heartbeat: Heartbeat;
  readonly #times: SessionTimes;
  readonly #visitor: (stream: MuxStream) => StreamReceiver;
  readonly #resolve: (outcome: SessionOutcome) => void;
  readonly #resolveOver: () => void;
  #loss: ServerFault | undefined;

  constructor(socket: Duplex, times: SessionTimes, visitor: (stream: MuxStream) => StreamReceiver) {
    const { promise, resolve } = Promise.withResolvers<SessionOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    const over = Promise.withResolvers<void>();
    this.over = over.promise;
    this.#resolveOver = over.resolve;
    this.#times = times;
    this.#visitor = visitor;
    this.#mux = new MuxSession(
      socket,
      {
        role: 'client',
        maxLocalStreams: ownStreams,
        maxRemoteStreams: maxVisitors,
        maxUnreadBytes,
        carriesAcks: false,
      },
      this,
    );
    this.#heartbeat = new Heartbeat(this.#mux, times.heartbeat);
  }

  /** Sends a message and resolves with the answer. Rejects with `Refused` or `ServerFault`. */
  async call(type: number, body: object): Promise<Message> {
    const answer = await callPeer(this.#mux, type, body, this.#times.answerMs).catch((error: unknown) => {
      // The end of the connection says more than the end of the stream.
      throw (
        this.#loss ??
        (error instanceof RpcFailed ? new ServerFault('passing', `the server gives ${error.message}`) : error)
      );
    });
    const error = readError(answer);
    if (error === undefined) return answer;
    const { text, code } = parseErrorText(error);
    throw new Refused(text, code);
  }

  close(text: string): void {
    this.#mux.close(codes.none, text);
  }

  accept(stream: MuxStream): StreamReceiver {
    return new StreamStart(stream, (type) => this.#receiverFor(type, stream));
  }

  closed(end: SessionEnd): void {
    this.#heartbeat.stop();
    const reason = describeEnd(end, this.#times.heartbeat.silenceMs);
    this.#loss = new ServerFault(isProtocolFault(end) ? 'wrong server' : 'passing', reason);
    this.#resolveOver();
    this.#resolve({ kind: 'lost', reason });
  }

  #receiverFor(type: number, stream: MuxStream): StreamReceiver | undefined {
    if (type === streamTypes.heartbeat) return new HeartbeatEcho(stream);
    if (type === streamTypes.proxy) return this.#visitor(stream);
    if (!commands.has(type)) {
      stream.reset(codes.streamRefused);
      return undefined;
    }
    return new RpcRequest(
      stream,
      {
        answer: async (message) => this.#obey(type, message),
        answerFault: (fault) => ({ Error: `the command is ${fault}` }),
      },
      commandLimits,
    );
  }

  #obey(type: number, message: Message): object {
    if (type === streamTypes.update) return { Error: updateRefusal };
    if (type !== streamTypes.stopTunnel) {
      this.#resolve({ kind: type === streamTypes.stop ? 'stop' : 'restart' });
      return {};
    }
    try {
      const { message: text, errorCode } = readStopTunnel(message);
      this.#resolve({ kind: 'tunnel stopped', text, code: parseErrorText(errorCode).code });
      return {};
    } catch (error) {
      return { Error: error instanceof Error ? error.message : String(error) };
    }
  }
}

const commands: ReadonlySet<number> = new Set([
  streamTypes.stop,
  streamTypes.restart,
  streamTypes.update,
  streamTypes.stopTunnel,
]);

function describeEnd({ by, code, text }: SessionEnd, silenceMs: number): string {
  if (by === 'us' && code === codes.writeTimeout) return `the server has been silent for ${silenceMs / 1000} seconds`;
  if (isProtocolFault({ by, code, text })) return `the server does not speak the protocol of agents (${text})`;
  if (by === 'us') return `the session was closed: ${text}`;
  return code === codes.peerEof || text === '' ? 'the connection was lost' : `the server closed the session: ${text}`;
}

function isProtocolFault({ by, code }: SessionEnd): boolean {
  return by === 'us' && (code === codes.protocol || code === codes.frameSize);
}
