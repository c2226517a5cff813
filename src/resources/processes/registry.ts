import { setTimeout as sleep } from 'node:timers/promises';

import { newId, toTimestamp } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { isLoopback } from '../../lib/ip/special-addresses.ts';
import { machineAddresses, thisMachine } from '../../lib/this-machine.ts';
import type { HealthReports } from '../../observe/traffic-health.ts';
import type { Listener } from '../../snapshot/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Services } from '../services.ts';
import { ownedByProcesses } from './service.ts';
import type { ListedProcess, Processes, ProcessFacts, ProcessStatus, Registration } from './service.ts';
import { beatProcess, readProcesses, readStatuses, removeProcess, writeProcess } from './table.ts';
import type { RunningProcess, StoredStatus } from './table.ts';

export interface RegistryOptions {
  /** Interval of the beat; a process whose beat stands still for three of them is taken for gone. */
  readonly beatMs: number;
  /** Within this time other processes obey a change. */
  readonly followMs: number;
}

const defaults: RegistryOptions = { beatMs: 10_000, followMs: 250 };
const missedBeats = 3;
/** A beat that is later than this many intervals may have cost the registration: fewer than the others wait for. */
const lateBeats = 2;
const stopLimitMs = 2_000;
/** Ports that one status names; a machine where more fail has one cause for all of them. */
const reportedPorts = 1_000;
/** Lost changes that one status names. */
const reportedChanges = 1_000;
/** Edges, routes and backends that one status tells of, those with most errors and requests first. */
const reportedHealth = 200;

export function createProcesses(store: Store, services: Services, options: RegistryOptions = defaults): Processes {
  const remove = (id: string, beat?: number) =>
    removeProcess(store, services.all(ownedByProcesses), { id, ...(beat === undefined ? {} : { beat }) });
  let own: ProcessRegistration | undefined;
  return {
    async register(facts) {
      const registration = new ProcessRegistration(store, remove, facts, options);
      await registration.start();
      own = registration;
      return registration;
    },
    async listeners(queries) {
      const all = await readProcesses(queries);
      return all.flatMap(({ listeners, addresses }) => listeners.map((each) => ({ ...each, addresses })));
    },
    async list(queries = store.queries) {
      const [all, statuses] = [await readProcesses(queries), await readStatuses(queries)];
      return all.map((each) => {
        const isSelf = each.id === own?.id;
        return { ...toListed(each, (isSelf ? own?.status : undefined) ?? statuses.get(each.id)), isSelf };
      });
    },
  };
}

function toListed(running: RunningProcess, status: StoredStatus | undefined): Omit<ListedProcess, 'isSelf'> {
  const { id, hostname, listeners, started_at: startedAt, role, version } = running;
  return {
    id,
    hostname,
    listeners,
    startedAt,
    ...(role === undefined ? {} : { role }),
    ...(version === undefined ? {} : { version }),
    ...(status === undefined ? {} : { status }),
  };
}

type Remove = (id: string, beat?: number) => Promise<void>;

class ProcessRegistration implements Registration {
  readonly #store: Store;
  readonly #options: RegistryOptions;
  readonly #remove: Remove;
  readonly #lease = new Lease();
  #self: RunningProcess;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  /** When the beat was last due here, whether or not the database could be reached. */
  #tickMs = performance.now();
  #isReturning = false;
  #readStatus: (() => ProcessStatus) | undefined;
  #isAlone = true;

  constructor(store: Store, remove: Remove, facts: ProcessFacts, options: RegistryOptions) {
    this.#store = store;
    this.#remove = remove;
    this.#options = options;
    const { hostname, networkId } = thisMachine();
    this.#self = {
      id: newId('proc'),
      hostname,
      network_id: networkId,
      addresses: reachableAddresses(),
      ...facts,
      started_at: toTimestamp(Date.now()),
    };
  }

  get status(): StoredStatus | undefined {
    const status = this.#readStatus?.();
    if (status === undefined) return undefined;
    const { unopenedPorts, historyChange, health } = status;
    return {
      ...status,
      unopenedPorts: unopenedPorts.slice(0, reportedPorts),
      historyChange: historyChange && { ...historyChange, lost: historyChange.lost.slice(0, reportedChanges) },
      // Nobody else reads it where there is nobody else.
      health: this.#isAlone ? undefined : health && boundHealth(health),
      seenAtMs: Date.now(),
    };
  }

  reportWith(read: () => ProcessStatus): void {
    this.#readStatus = read;
    this.#beating = this.#beat().catch(() => {});
  }

  get id(): string {
    return this.#self.id;
  }

  /** A database that cannot be written does not keep the process from starting: the beat tries again. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      const stoodStill = this.isLapsed;
      this.#tickMs = performance.now();
      this.#beating = (stoodStill ? this.#comeBack() : this.#beat()).catch(() => {});
    }, this.#options.beatMs).unref();
    this.#store.follow({
      changed: () => {},
      // The registration may be lost with everything else. Not awaited: a write is answered after all followers.
      reset: () => {
        if (this.#timer !== undefined) this.#beating = this.#beating.then(() => this.#beat()).catch(() => {});
      },
    });
    await this.#write().catch(() => {});
    const others = await readProcesses(this.#store.queries);
    this.#isAlone = others.length <= 1;
    const isGateway = ({ id, listeners }: RunningProcess) =>
      id !== this.#self.id && listeners.some(({ kind }) => kind === 'tcp');
    if (others.some(isGateway)) await sleep(this.#options.followMs);
  }

  get isLapsed(): boolean {
    return this.#isReturning || performance.now() - this.#tickMs > this.#options.beatMs * lateBeats;
  }

  async update(listeners: readonly Listener[]): Promise<void> {
    this.#self = { ...this.#self, listeners };
    await this.#write().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    // One that cannot be removed is found gone by the others: a stop does not wait for a database that is away.
    const removed = this.#beating.then(() => this.#remove(this.#self.id)).catch(() => {});
    await Promise.race([removed, sleep(stopLimitMs, undefined, { ref: false })]);
  }

  /** A gateway must know of the listeners again before they serve anybody. */
  async #comeBack(): Promise<void> {
    this.#isReturning = true;
    await this.#write().catch(() => {});
    await sleep(this.#options.followMs);
    this.#isReturning = false;
  }

  #write(): Promise<void> {
    return writeProcess(this.#store, this.#self);
  }

  async #beat(): Promise<void> {
    const addresses = reachableAddresses();
    const isMoved = addresses.join() !== this.#self.addresses.join();
    if (isMoved) this.#self = { ...this.#self, addresses };
    const { isKnown, beats } = await this.#store
      .writeUnlogged(async (notes) => ({
        isKnown: await beatProcess(notes, this.#self.id, this.status),
        beats: (await notes.all('SELECT id, beat FROM processes')).map(
          ([id, beat]) => [String(id), Number(beat)] as const,
        ),
      }))
      .catch((error: unknown) => {
        // Nobody's beat can move without the database.
        this.#lease.reset();
        throw error;
      });
    this.#isAlone = beats.length <= 1;
    if (!isKnown || isMoved) await this.#write();
    for (const [id, beat] of this.#lease.expired(beats)) {
      if (id !== this.#self.id) await this.#remove(id, beat);
    }
  }
}

function boundHealth({ reports, hasLeftOut }: HealthReports): HealthReports {
  return { reports: reports.slice(0, reportedHealth), hasLeftOut: hasLeftOut || reports.length > reportedHealth };
}

/** Counts how often each beat was found unmoved. */
class Lease {
  #seen = new Map<string, { readonly beat: number; readonly missed: number }>();

  expired(beats: readonly (readonly [id: string, beat: number])[]): readonly (readonly [id: string, beat: number])[] {
    const seen = new Map<string, { readonly beat: number; readonly missed: number }>();
    for (const [id, beat] of beats) {
      const last = this.#seen.get(id);
      seen.set(id, { beat, missed: last?.beat === beat ? last.missed + 1 : 0 });
    }
    this.#seen = seen;
    return beats.filter(([id]) => (seen.get(id)?.missed ?? 0) >= missedBeats);
  }

  reset(): void {
    this.#seen = new Map();
  }
}

/** Loopback addresses lead to whichever machine they are used on. */
function reachableAddresses(): readonly string[] {
  return machineAddresses().filter((text) => {
    const ip = parseIp(text);
    return ip !== undefined && !isLoopback(ip);
  });
}
