import { FieldReader } from './fields.ts';

/** Versions of the protocol that are spoken here; they do not differ in anything that is used. */
const spokenVersions: ReadonlySet<string> = new Set(['2', '3']);

/** Says whether an agent carries a command out: `yes`, or the reason why not. */
export type CommandSupport = 'yes' | { readonly reason: string };

/** How an agent introduces itself. */
export interface AuthRequest {
  /** The version to answer with; undefined if none of the agent's is spoken here. */
  readonly version: string | undefined;
  /** Empty on the first connection, later what `AuthResponse` gave. */
  readonly clientId: string;
  readonly cookie: string;
  readonly token: string;
  readonly agent: AgentInfo;
}

export interface AgentInfo {
  readonly os: string;
  readonly arch: string;
  /** Version of the program that the agent is part of. */
  readonly version: string;
  readonly clientType: string;
  readonly userAgent: string;
  readonly metadata: string;
  /**
   * The family of libraries that share one implementation, in Rust, and its limit of 512 streams; everything else is
   * written in Go and has none.
   */
  readonly family: 'rust' | 'other';
  readonly supports: Readonly<Record<'stop' | 'restart' | 'update', CommandSupport>>;
}

/** An `AuthRequest` as an agent sends it. */
export interface AuthMessage {
  readonly clientId: string;
  readonly cookie: string;
  readonly token: string;
  readonly agent: Omit<AgentInfo, 'family'>;
  readonly heartbeatMs: number;
  /** Longest time that an answer to a heartbeat may take. */
  readonly toleranceMs: number;
}

export interface AuthResponse {
  readonly version: string;
  readonly clientId: string;
  readonly cookie: string;
  readonly sessionId: string;
  readonly region: string;
  readonly accountName: string;
  readonly serverVersion: string;
}

const nanosecondsPerMs = 1_000_000;
const tooOld: CommandSupport = { reason: 'the agent is too old for it' };
const maxText = 1024;
/** The same limit as everywhere else. */
export const maxMetadata = 4096;
const rustFamily = /-(?:rust|javascript|python|java)(?:\/|$)/i;

/** Throws a `MessageFault`. */
export function readAuth(message: Readonly<Record<string, unknown>>): AuthRequest {
  const fields = new FieldReader(message);
  const extra = fields.inner('Extra');
  const clientType = extra.text('ClientType', maxText);
  const userAgent = extra.text('UserAgent', maxText);
  const isRust = rustFamily.test(clientType) || userAgent.split(' ').some((word) => rustFamily.test(word));
  return {
    version: fields.texts('Version', 16, 16).find((version) => spokenVersions.has(version)),
    clientId: fields.text('ClientId', 128),
    cookie: extra.text('Cookie', maxText),
    token: extra.text('AuthToken', maxText),
    agent: {
      os: extra.text('OS', maxText),
      arch: extra.text('Arch', maxText),
      version: extra.text('Version', maxText),
      clientType,
      userAgent,
      metadata: extra.text('Metadata', maxMetadata),
      family: isRust ? 'rust' : 'other',
      supports: {
        stop: readSupport(extra, 'StopUnsupportedError'),
        restart: readSupport(extra, 'RestartUnsupportedError'),
        update: readSupport(extra, 'UpdateUnsupportedError'),
      },
    },
  };
}

function readSupport(extra: FieldReader, name: string): CommandSupport {
  const reason = extra.textOrNull(name, maxText);
  if (reason === undefined) return tooOld;
  return reason === '' ? 'yes' : { reason };
}

/** The other half of `readAuth`, for agents. */
export function authMessage({ clientId, cookie, token, agent, heartbeatMs, toleranceMs }: AuthMessage): object {
  const { os, arch, version, clientType, userAgent, metadata, supports } = agent;
  return {
    Version: ['3', '2'],
    ClientId: clientId,
    Extra: {
      OS: os,
      Arch: arch,
      AuthToken: token,
      Version: version,
      ClientType: clientType,
      UserAgent: userAgent,
      Metadata: metadata,
      Cookie: cookie,
      HeartbeatInterval: heartbeatMs * nanosecondsPerMs,
      HeartbeatTolerance: toleranceMs * nanosecondsPerMs,
      StopUnsupportedError: supportText(supports.stop),
      RestartUnsupportedError: supportText(supports.restart),
      UpdateUnsupportedError: supportText(supports.update),
    },
  };
}

function supportText(support: CommandSupport): string {
  return support === 'yes' ? '' : support.reason;
}

/** The form is strict: agents written in Rust refuse an answer without `Version` and `ClientId`. */
export function authResponse(response: AuthResponse): object {
  return {
    Version: response.version,
    ClientId: response.clientId,
    Extra: {
      Version: response.serverVersion,
      Region: response.region,
      AccountName: response.accountName,
      Cookie: response.cookie,
      AgentSessionID: response.sessionId,
    },
  };
}

/** The other half of `authResponse`, for agents. Throws a `MessageFault`. */
export function readAuthResponse(message: Readonly<Record<string, unknown>>): AuthResponse {
  const fields = new FieldReader(message);
  const extra = fields.inner('Extra');
  const clientId = fields.text('ClientId', 128);
  if (clientId === '') throw fields.fault('ClientId', 'is missing');
  return {
    version: fields.text('Version', maxText),
    clientId,
    cookie: extra.text('Cookie', maxText),
    sessionId: extra.text('AgentSessionID', maxText),
    region: extra.text('Region', maxText),
    accountName: extra.text('AccountName', maxText),
    serverVersion: extra.text('Version', maxText),
  };
}
