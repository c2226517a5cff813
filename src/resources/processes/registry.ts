import { setTimeout as sleep } from 'node:timers/promises';

import { newId, toTimestamp } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { isLoopback } from '../../lib/ip/special-addresses.ts';
import { machineAddresses, thisMachine } from '../../lib/this-machine.ts';
import type { Listener } from '../../snapshot/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Processes, Registration } from './service.ts';
import { readProcesses, removeProcess, writeProcess } from './table.ts';
import type { RunningProcess } from './table.ts';

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

export function createProcesses(store: Store, options: RegistryOptions = defaults): Processes {
  return {
    async register(listeners) {
      const registration = new ProcessRegistration(store, listeners, options);
      await registration.start();
      return registration;
    },
  };
}

class ProcessRegistration implements Registration {
  readonly #store: Store;
  readonly #options: RegistryOptions;
  readonly #lease = new Lease();
  #self: RunningProcess;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  /** When the beat was last due here, whether or not the database could be reached. */
  #tickMs = performance.now();
  #isReturning = false;

  constructor(store: Store, listeners: readonly Listener[], options: RegistryOptions) {
    this.#store = store;
    this.#options = options;
    const { hostname, networkId } = thisMachine();
    this.#self = {
      id: newId('proc'),
      hostname,
      network_id: networkId,
      addresses: reachableAddresses(),
      listeners,
      started_at: toTimestamp(Date.now()),
    };
  }

  /** A database that cannot be written does not keep the process from starting: the beat tries again. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      const stoodStill = this.isLapsed;
      this.#tickMs = performance.now();
      this.#beating = (stoodStill ? this.#comeBack() : this.#beat()).catch(() => {});
    }, this.#options.beatMs).unref();
    await this.#write().catch(() => {});
    const others = await readProcesses(this.#store.queries);
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
    // One that cannot be removed is found gone by the others: a stop does not wait for a database that is away.
    const removed = this.#beating.then(() => removeProcess(this.#store, this.#self.id)).catch(() => {});
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
        isKnown: (await notes.run('UPDATE processes SET beat = beat + 1 WHERE id = $1', [this.#self.id])) > 0,
        beats: (await notes.all('SELECT id, beat FROM processes')).map(
          ([id, beat]) => [String(id), Number(beat)] as const,
        ),
      }))
      .catch((error: unknown) => {
        // Nobody's beat can move without the database.
        this.#lease.reset();
        throw error;
      });
    if (!isKnown || isMoved) await this.#write();
    for (const [id, beat] of this.#lease.expired(beats)) {
      if (id !== this.#self.id) await removeProcess(this.#store, id, beat);
    }
  }
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
