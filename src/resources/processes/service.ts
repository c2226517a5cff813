import type { HealthReports } from '../../observe/traffic-health.ts';
import type { Listener } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { HistoryChange } from '../../store/write/history.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import { serviceKey, serviceListKey } from '../services.ts';

/** The processes of the installation that run now. */
export interface Processes {
  /**
   * Makes the listeners of this process known to all others, and keeps them known until it is disposed of. Resolves when
   * gateways that run can be taken to know them: a process is to register before it listens.
   */
  register(facts: ProcessFacts): Promise<Registration>;
  /** All of them, with what each last said of itself; this one says it now. */
  list(queries?: Queries): Promise<readonly ListedProcess[]>;
  /** Listeners of all of them, with the addresses of their machines. */
  listeners(queries: Queries): Promise<readonly MachineListener[]>;
}

export interface MachineListener extends Listener {
  /** Addresses that other machines can reach. */
  readonly addresses: readonly string[];
}

/** Facts about a process that are known when it starts. */
export interface ProcessFacts {
  readonly listeners: readonly Listener[];
  /** Absent for a process of an older version. */
  readonly role?: string;
  /** Of its program. */
  readonly version?: string;
}

/** Report of a process about itself, at each beat. */
export interface ProcessStatus {
  /** Version of the configuration that is in force in it. */
  readonly configurationVersion: number;
  /** Ports of TCP edges that it cannot open. */
  readonly unopenedPorts: readonly UnopenedPort[];
  /** When it last found the database with another history than before, and what was lost with the one before. */
  readonly historyChange?: HistoryChange | undefined;
  /** How edges, routes and backends do by the traffic through it; absent where it is the only process, or carries none. */
  readonly health?: HealthReports | undefined;
  /** Names the store of the decisions that it keeps. */
  readonly decisions?: string | undefined;
}

export interface UnopenedPort {
  readonly accountId: string;
  readonly edgeId: string;
  readonly port: number;
  readonly reason: string;
}

export interface ListedProcess extends ProcessFacts {
  readonly id: string;
  /** True for the process that answers. */
  readonly isSelf: boolean;
  readonly hostname: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Absent until its first beat. */
  readonly status?: ProcessStatus & { readonly seenAtMs: number };
}

/** A resource whose rows belong to a process and go with it, such as sessions of agents. */
export interface OwnedByProcesses {
  removeOf(writer: ObservationWriter, processId: string): Promise<void>;
}

export interface Registration extends AsyncDisposable {
  /** Id of this process, as in `ProcessEntry`. */
  readonly id: string;
  /**
   * True while the others may have taken this process for gone, because it stood still: its listeners are not guarded then,
   * and must serve nobody until it is registered again.
   */
  readonly isLapsed: boolean;
  /** Replaces the listeners, once the system has chosen their ports. */
  update(listeners: readonly Listener[]): Promise<void>;
  /** Begins to say how the process is, at each beat. */
  reportWith(read: () => ProcessStatus): void;
}

export const processes = serviceKey<Processes>('processes');
export const ownedByProcesses = serviceListKey<OwnedByProcesses>('resources owned by processes');
