import type { Duplex } from 'node:stream';

import { quote, UserError } from '../../errors/user-error.ts';
import * as errors from '../errors.ts';
import { HeartbeatEcho } from '../mux/heartbeat.ts';
import { MuxSession } from '../mux/mux-session.ts';
import type { MuxOwner, SessionEnd } from '../mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../mux/mux-stream.ts';
import { RpcRequest } from '../mux/rpc.ts';
import { StreamStart } from '../mux/typed-stream.ts';
import { authResponse, readAuth } from '../wire/auth.ts';
import { errorResponse } from '../wire/commands.ts';
import { MessageFault } from '../wire/fields.ts';
import { codes } from '../wire/frame.ts';
import { streamTypes } from '../wire/stream-types.ts';
import { AgentSession } from './agent-session.ts';
import type { AgentBound, AgentBoundReports } from './bounds.ts';
import type { AgentHost, AgentSource } from './host.ts';
import type { AgentIdentity } from './identity.ts';
import { agentStreams } from './limits.ts';
import type { AgentLimits } from './limits.ts';
import { answerTunnelMessage, tunnelMessages } from './tunnel-messages.ts';

type Message = Readonly<Record<string, unknown>>;

export interface ConnectionSettings {
  readonly host: AgentHost;
  readonly identity: AgentIdentity;
  readonly limits: AgentLimits;
  readonly bounds: AgentBoundReports;
  readonly region: string;
  readonly serverVersion: string;
  /** In front of an error's number, such as `ERR_X_`; agents take a code for one only by a prefix they know. */
  readonly errorPrefix: string;
  readonly log: { error(fields: object, message: string): void };
}

/** Keeps the sessions of authenticated agents. */
export interface SessionKeeper {
  up(session: AgentSession): void;
  down(session: AgentSession): void;
}

/** Time that a refused agent has to read why. */
const refusalMs = 500;
const openToAll: ReadonlySet<number> = new Set([streamTypes.auth, streamTypes.srvInfo, streamTypes.heartbeat]);

/** One connection of an agent, from its first byte to its end: authenticates it, then answers its messages. */
export class AgentConnection implements MuxOwner {
  readonly mux: MuxSession;
  readonly #source: AgentSource;
  readonly #settings: ConnectionSettings;
  readonly #keeper: SessionKeeper;
  readonly #authTimer: NodeJS.Timeout;
  #state: 'waiting' | 'authenticating' | 'refused' | 'up' = 'waiting';
  #session: AgentSession | undefined;

  constructor(socket: Duplex, source: AgentSource, settings: ConnectionSettings, keeper: SessionKeeper) {
    const { limits } = settings;
    this.#source = source;
    this.#settings = settings;
    this.#keeper = keeper;
    this.mux = new MuxSession(
      socket,
      {
        role: 'server',
        maxLocalStreams: 0,
        maxRemoteStreams: agentStreams,
        maxUnreadBytes: limits.unreadBytes,
        carriesAcks: true,
      },
      this,
    );
    this.mux.maxReceivedBytes = limits.authBytes;
    this.mux.onTooManyBytes = () => {
      this.#exceed('agent_auth_kib', errors.signInTooLarge.message);
    };
    this.#authTimer = setTimeout(() => {
      this.#exceed('agent_auth_seconds', errors.signInTooLate.message);
    }, limits.authMs);
  }

  accept(stream: MuxStream): StreamReceiver {
    return new StreamStart(stream, (type) => this.#receiverFor(type, stream));
  }

  closed(end: SessionEnd): void {
    clearTimeout(this.#authTimer);
    const { host } = this.#settings;
    const session = this.#session;
    if (session === undefined) {
      if (this.#state !== 'refused') host.turnedAway(this.#source, end.text);
      return;
    }
    session.ended();
    this.#keeper.down(session);
    host.sessionDown(session, end);
  }

  overrun(): void {
    this.#settings.bounds.refused('agent_unread_mib', { session: this.#session?.id });
  }

  #exceed(bound: AgentBound, text: string): void {
    this.#settings.bounds.refused(bound, { source: this.#source.text });
    this.mux.close(codes.enhanceYourCalm, text);
  }

  #receiverFor(type: number, stream: MuxStream): StreamReceiver | undefined {
    if (this.#state !== 'up' && !openToAll.has(type)) {
      this.mux.close(codes.protocol, 'not authenticated');
      return undefined;
    }
    if (type === streamTypes.heartbeat) return new HeartbeatEcho(stream);
    if (type === streamTypes.auth && this.#state !== 'waiting') {
      this.mux.close(codes.protocol, 'authenticated twice');
      return undefined;
    }
    const name = messageNames.get(type);
    if (name === undefined) {
      stream.reset(codes.streamRefused);
      return undefined;
    }
    if (type === streamTypes.auth) this.#state = 'authenticating';
    return this.#readMessage(type, name, stream);
  }

  #readMessage(type: number, name: string, stream: MuxStream): StreamReceiver {
    const { limits } = this.#settings;
    const maxBytes = this.#state === 'up' ? limits.messageBytes : limits.authBytes;
    return new RpcRequest(
      stream,
      {
        answer: (message) => this.#answer(name, this.#carryOut(type, message)),
        answerFault: (fault) => this.#refusal(name, new MessageFault(`it is ${fault}`)),
      },
      { maxBytes, timeoutMs: limits.authMs },
    );
  }

  async #answer(name: string, work: Promise<object>): Promise<object> {
    try {
      return await work;
    } catch (error) {
      return this.#refusal(name, error);
    }
  }

  async #carryOut(type: number, message: Message): Promise<object> {
    if (type === streamTypes.auth) return this.#authenticate(message);
    if (type === streamTypes.srvInfo) return { Region: this.#settings.region };
    // Only authenticated agents get here with other types.
    if (this.#session === undefined) throw new UserError(errors.noToken);
    return answerTunnelMessage(type, message, this.#session, this.#settings);
  }

  async #authenticate(message: Message): Promise<object> {
    clearTimeout(this.#authTimer);
    const { host, identity, limits, bounds, region, serverVersion } = this.#settings;
    const request = readAuth(message);
    if (request.version === undefined) throw new UserError(errors.noCommonVersion);
    if (request.token === '') throw new UserError(errors.noToken);
    const admission = await host.authenticate(request, this.#source);
    if (!this.mux.isOpen) return {};
    const { clientId, isKnown } = identity.recognize(request.clientId, request.cookie, admission.credentialId);
    this.#state = 'up';
    this.mux.maxReceivedBytes = Infinity;
    this.mux.ignoresResets = request.agent.family === 'rust';
    this.mux.maxLocalStreams = limits.streamsPerSession[request.agent.family] - agentStreams;
    const facts = { clientId, isResumed: isKnown, source: this.#source, agent: request.agent, admission };
    const session = new AgentSession(facts, this.mux, limits, bounds);
    this.#session = session;
    const isKnownToHost = host.sessionUp(session);
    this.#keeper.up(session);
    try {
      await isKnownToHost;
    } catch (error) {
      // The session is refused like one that was never up.
      this.#state = 'authenticating';
      throw error;
    }
    return authResponse({
      version: request.version,
      clientId,
      cookie: identity.cookie(clientId, admission.credentialId),
      sessionId: session.id,
      region,
      accountName: admission.accountName,
      serverVersion,
    });
  }

  #refusal(name: string, error: unknown): object {
    const isAuth = name === messageNames.get(streamTypes.auth);
    const { errorPrefix, log, host } = this.#settings;
    const shown = isAuth ? asAuthError(error) : asMessageError(name, error);
    if (shown.status >= 500) log.error({ err: error, message: name, source: this.#source.text }, 'a message failed');
    if (isAuth && this.#state !== 'up') {
      this.#state = 'refused';
      host.turnedAway(this.#source, shown.message);
      setTimeout(() => {
        this.mux.close(codes.none, 'refused');
      }, refusalMs);
    }
    return errorResponse(shown.message, `${errorPrefix}${shown.code}`);
  }
}

const messageNames: ReadonlyMap<number, string> = new Map<number, string>([
  [streamTypes.auth, 'Auth'],
  [streamTypes.srvInfo, 'SrvInfo'],
  ...tunnelMessages,
]);

function asAuthError(error: unknown): UserError {
  if (error instanceof MessageFault) return new UserError(errors.invalidAuth, { reason: error.message });
  return error instanceof UserError ? error : new UserError(errors.agentFailure);
}

function asMessageError(message: string, error: unknown): UserError {
  if (error instanceof MessageFault)
    return new UserError(errors.invalidMessage, { message: quote(message), reason: error.message });
  return error instanceof UserError ? error : new UserError(errors.agentFailure);
}
