import type { AgentSession } from '../../agents/server/agent-session.ts';
import type { AgentHost } from '../../agents/server/host.ts';
import type { UserError } from '../../errors/user-error.ts';
import type { EndpointScheme } from '../../lib/endpoint-url.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { Settings } from '../../modules/module.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { TunnelRef } from '../../snapshot/contract.ts';
import type { Page } from '../../store/table.ts';
import type { Queries } from '../../store/database.ts';
import type { Labels } from '../labels.ts';
import { serviceKey } from '../services.ts';
import type { CommandBox } from './commands.ts';
import type { Tunnel } from './table.ts';

/** Parts that a process that listens for agents gives to the host of their sessions. */
export interface AgentHostOptions {
  /** Id of the process, as in `ProcessEntry`. */
  readonly processId: string;
  readonly access: Pick<AccessTable, 'admit'>;
  /** Throws the answer to a token that may be a guess, when it is time. */
  readonly answerGuess: (fault: UserError, source: () => IpAddress) => Promise<never>;
  readonly warned: (restrictionIds: readonly string[], source: IpAddress) => void;
  /** Called with the number of the error for each agent that is not let in, and each bind that is refused. */
  readonly refused: (code: number) => void;
  /** Called with the id of the credential for each session that is one too many. */
  readonly sessionsReached: (credentialId: string) => void;
  readonly servesHttps: boolean;
  readonly sessionsPerCredential: number;
  /** Time for which names and ports stay with their account after a disconnect. */
  readonly nameMs: number;
  /** How often what is stored is compared with what is open. */
  readonly compareMs?: number;
  readonly log: {
    debug(fields: object, message: string): void;
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Disposing of it waits for what is being written. */
export interface OpenAgentHost extends AgentHost, AsyncDisposable {
  /** Numbers of this process. */
  readonly sessions: number;
  readonly tunnels: number;
  /** Sessions of the credential that has most. */
  readonly mostSessions: number;
  /** The session of this process that has the tunnel. */
  sessionOf(tunnelId: string): AgentSession | undefined;
  /** Resolves when no tunnel is being bound of those that were when it was called. */
  bound(): Promise<void>;
}

export interface AgentTunnels {
  openHost(options: AgentHostOptions): OpenAgentHost;
  /** Tunnels of the account that carry all of these labels. */
  withLabels(queries: Queries, accountId: string, labels: Labels): Promise<readonly TunnelRef[]>;
  /** Whether an agent with all of these labels was disconnected not long ago, and is expected back. */
  expectsLabels(queries: Queries, accountId: string, labels: Labels): Promise<boolean>;
  /** Endpoints of agents, newest first, by their tunnels; `beforeId` is the id of a tunnel. */
  page(accountId: string, page: Page): Promise<readonly Tunnel[]>;
  find(accountId: string, tunnelId: string): Promise<Tunnel | undefined>;
  /** Modules that visitors of its endpoint meet, by name. */
  modulesOf(tunnel: Tunnel): Promise<Readonly<Record<string, Settings>>>;
  /** Endpoints of the account's agents at a place, also of one that is expected back. */
  at(queries: Queries, accountId: string, place: AgentPlace): Promise<readonly AgentEndpoint[]>;
  /** What decisions about visitors name of that which the agent of a session serves; undefined where it is not connected. */
  recordedOfSession(
    queries: Queries,
    accountId: string,
    sessionId: string,
    most: number,
  ): Promise<readonly Recorded[] | 'too_many' | undefined>;
  /** The same of the agent's part of an endpoint; undefined where no agent has it. */
  recordedOfEndpoint(queries: Queries, accountId: string, endpointId: string): Promise<Recorded | undefined>;
  /** Id of the user or bot whose credential the agent of the tunnel has; undefined once that is gone. */
  ownerOf(tunnel: Pick<Tunnel, 'account_id' | 'session_id'>): Promise<string | undefined>;
}

/** An edge or a backend, as decisions about visitors name it. Agents that share an endpoint, or labels, share it. */
export interface Recorded {
  readonly dimension: 'edge' | 'backend';
  readonly key: string;
}

/** The place of a URL, as endpoints of agents hold it. */
export interface AgentPlace {
  readonly scheme: EndpointScheme;
  readonly hostname: string;
  readonly port: number;
  readonly isInternal: boolean;
}

export interface AgentEndpoint {
  /** Id of the tunnel, or of the endpoint whose agent is expected back. */
  readonly id: string;
  readonly isPooled: boolean;
  /** True: it has the name for another kind of traffic. */
  readonly isOtherKind: boolean;
}

export const agentTunnels = serviceKey<AgentTunnels>('tunnels of agents');
export const commandBox = serviceKey<CommandBox>('commands to agents');
