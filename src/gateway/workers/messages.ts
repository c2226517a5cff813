import type { CidrSetData } from '../../lib/ip/cidr-set.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import type { CertificatePair } from '../../snapshot/local-ca.ts';
import type { SnapshotSource } from '../../snapshot/snapshot-file.ts';
import type { GatewayBounds } from '../bounds/bound.ts';
import type { GatewayLog, GatewayOptions, ReplayOutcome, ReplayRequest, TrafficObserver } from '../engine.ts';
import type { HealthNote } from '../health/health-board.ts';
import type { NodeEngine } from '../node-engine.ts';
import type { Arrival } from '../upstream/upstream-sockets.ts';
import type { WorkerLoad } from './balance.ts';
import type { LoginCall, LoginReply } from './login-calls.ts';
import type { PackedAnswers } from './packed-answers.ts';

/** File descriptor of a worker's end of the link to its parent, a pair of sockets that nobody else can open. */
export const linkDescriptor = 4;

/** Options of the gateway as plain data. Workers always share their ports. */
export interface WorkerOptions extends Omit<GatewayOptions, 'trustedProxies' | 'sharePorts'> {
  readonly trustedProxies: CidrSetData;
}

/** Sent to a worker once, over its channel: its arguments and environment could be read by others. */
export interface WorkerStart {
  readonly options: WorkerOptions;
  /** Signs for names without an uploaded certificate; needed where there is an HTTPS listener. */
  readonly localCa: CertificatePair | undefined;
  /** Prefix of error codes; default `ERR_GATEHOUSE`. */
  readonly errorPrefix?: string;
}

type ToldName = 'relieve' | 'countPasswords' | 'endSessions' | 'setHealth' | 'runChecks' | 'countRates' | 'inspect';

/** A call of the worker's engine, by name and arguments. */
export type EngineCall = {
  [Name in ToldName]: readonly [name: Name, ...Parameters<NodeEngine[Name]>];
}[ToldName];

/** A task for a worker, which answers it with a `Reply` of the same number. */
export type Task =
  | ({ readonly task: 'start' } & WorkerStart)
  | { readonly task: 'stage'; readonly update: SnapshotUpdate }
  | ({ readonly task: 'stageAll' } & SnapshotSource)
  | { readonly task: 'commit' }
  | { readonly task: 'abandon' }
  | { readonly task: 'drain'; readonly limitMs: number }
  | { readonly task: 'share'; readonly bounds: GatewayBounds; readonly isAlone: boolean }
  | { readonly task: 'tell'; readonly call: EngineCall }
  | { readonly task: 'made'; readonly arrival: Arrival }
  | { readonly task: 'replay'; readonly request: ReplayRequest }
  | { readonly task: 'loginReply'; readonly reply: LoginReply }
  | { readonly task: 'answer'; readonly question: number; readonly madeByOthers: boolean };

export type Request = Task & { readonly number: number };

export interface Reply {
  readonly type: 'reply';
  readonly number: number;
  /** Error message, if the task could not be done. */
  readonly fault?: string;
  /** The answer to `made`: one of its sockets made the connection. */
  readonly made?: boolean;
  /** The answer to `replay`. */
  readonly replayed?: ReplayOutcome;
}

/** Events that are sent one by one; the others are packed, or only counted. */
export type SingleName = Exclude<keyof TrafficObserver, 'httpAnswered' | 'httpsOpened' | 'httpsClosed'>;

/** A call of the observer, by name and arguments. */
export type SingleEvent = {
  [Name in SingleName]: readonly [name: Name, ...Parameters<TrafficObserver[Name]>];
}[SingleName];

export interface Events {
  readonly type: 'events';
  readonly events: readonly SingleEvent[];
  /** Connections to the HTTPS listener since the message before. */
  readonly https: { readonly opened: number; readonly closed: number };
  readonly answers: PackedAnswers;
}

export interface LogLine {
  readonly type: 'log';
  readonly level: keyof GatewayLog;
  readonly fields: object;
  readonly message: string;
}

/** A worker is ready to be given tasks. */
export interface Up {
  readonly type: 'up';
}

/** A worker wants to know whether another one made a connection that has arrived; `answer` tells it. */
export interface Question {
  readonly type: 'question';
  readonly question: number;
  readonly arrival: Arrival;
}

/** Sent once a second. */
export interface Load extends WorkerLoad {
  readonly type: 'load';
}

/** Sights of addresses of backends that a worker has had. */
export interface HealthNotes {
  readonly type: 'health';
  readonly notes: readonly HealthNote[];
}

export type FromWorker = Up | Reply | Events | LogLine | Question | Load | HealthNotes | LoginCall;
