import type { SnapshotUpdate } from '../snapshot/contract.ts';
import type { LocalCaStorage } from '../snapshot/local-ca.ts';
import type { SnapshotFile } from '../snapshot/snapshot-file.ts';
import type { RunningEngine } from './start-engine.ts';

interface ResilientGatewayOptions {
  /** The engine keeps what it puts in force in the file. */
  readonly startEngine: (caStorage: LocalCaStorage, file: SnapshotFile | undefined) => Promise<RunningEngine>;
  /** The last configuration on disk; undefined where the gateway must not start without its database. */
  readonly file: SnapshotFile | undefined;
  /** How long open requests and connections may go on when it stops. */
  readonly drainMs: number;
}

/** An engine that outlives its database: it keeps its configuration in a file, and can start from that. */
export class ResilientGateway implements AsyncDisposable {
  readonly #options: ResilientGatewayOptions;
  #engine: RunningEngine | undefined;
  #isServing = false;
  #startedFrom: ResilientGateway['startedFrom'];
  #fault: unknown;
  #stopped: Promise<void> | undefined;

  constructor(options: ResilientGatewayOptions) {
    this.#options = options;
  }

  get engine(): RunningEngine | undefined {
    return this.#engine;
  }

  /** The point in the history of the database whose configuration it has taken from the file; undefined: none. */
  get startedFrom(): Pick<SnapshotUpdate, 'version' | 'mark'> | undefined {
    return this.#startedFrom;
  }

  /** True once it has taken a configuration. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** Throws unless it has taken a configuration and its listeners are open. */
  checkServing(): void {
    if (!this.#isServing) throw new Error('the gateway cannot serve', { cause: this.#fault });
  }

  /** True when it serves what the file holds. False where there is none, or it has begun with the database. */
  async startFromFile(): Promise<boolean> {
    if (this.#engine !== undefined) return false;
    const saved = await this.#options.file?.load();
    if (saved === undefined) return false;
    const stored = async () => saved.localCa;
    this.#engine = await this.#options.startEngine({ load: stored, save: stored }, this.#options.file);
    await this.#engine.apply(saved.update);
    const { version, mark } = saved.update;
    this.#startedFrom = mark === undefined ? { version } : { version, mark };
    this.#isServing = true;
    return true;
  }

  /** Does nothing where it has been started from the file. */
  async start(caStorage: LocalCaStorage): Promise<void> {
    this.#engine ??= await this.#options.startEngine(caStorage, this.#options.file);
    const localCa = await caStorage.load();
    if (localCa !== undefined) this.#options.file?.setLocalCa(localCa);
  }

  async apply(update: SnapshotUpdate): Promise<void> {
    try {
      await this.#engine?.apply(update);
      this.#isServing = true;
    } catch (error) {
      this.#fault = error;
      throw error;
    }
  }

  /** Stops accepting and lets open requests and connections end. Disposing of it does the same, once. */
  drain(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  async #stop(): Promise<void> {
    await this.#engine?.drain(this.#options.drainMs);
    await this.#options.file?.[Symbol.asyncDispose]();
  }
}
