import { readFileSync } from 'node:fs';

import { vendorWords } from './api/vendor-words.ts';
import type { Logger } from './app.ts';
import type { Config } from './config.ts';
import type { GatewayOptions, TrafficObserver } from './gateway/engine.ts';
import { startEngine } from './gateway/start-engine.ts';
import type { RunningEngine } from './gateway/start-engine.ts';
import { createSealer } from './lib/sealed-secret.ts';
import type { LocalCaStorage } from './resources/resource.ts';
import type { SnapshotUpdate } from './snapshot/contract.ts';
import { SnapshotFile } from './snapshot/snapshot-file.ts';

/** The gateway as a part of the program: its engine, and the file that lets it start without the database. */
export class GatewayPart implements AsyncDisposable {
  readonly #config: Config;
  readonly #observer: TrafficObserver;
  readonly #log: Logger;
  readonly #file: SnapshotFile | undefined;
  #engine: RunningEngine | undefined;
  #isServing = false;
  #fault: unknown;
  #stopped: Promise<void> | undefined;

  constructor(config: Config, observer: TrafficObserver, log: Logger) {
    this.#config = config;
    this.#observer = observer;
    this.#log = log;
    this.#file = openFile(config, log);
  }

  get engine(): RunningEngine | undefined {
    return this.#engine;
  }

  /** Throws unless it has taken a configuration and its listeners are open. */
  checkServing(): void {
    if (!this.#isServing) throw new Error('the gateway cannot serve', { cause: this.#fault });
  }

  /** True when it serves what the file holds. False where there is none, or it has begun with the database. */
  async startFromFile(): Promise<boolean> {
    if (this.#engine !== undefined) return false;
    const saved = await this.#file?.load();
    if (saved === undefined) return false;
    const stored = async () => saved.localCa;
    const engine = await this.#startEngine({ load: stored, save: stored });
    await engine.apply(saved.update);
    this.#isServing = true;
    return true;
  }

  /** Does nothing where it has been started from the file. */
  async start(caStorage: LocalCaStorage): Promise<void> {
    if (this.#engine === undefined) await this.#startEngine(caStorage);
    const localCa = await caStorage.load();
    if (localCa !== undefined) this.#file?.setLocalCa(localCa);
  }

  async apply(update: SnapshotUpdate): Promise<void> {
    try {
      await this.#engine?.apply(update);
      this.#isServing = true;
    } catch (error) {
      this.#fault = error;
      throw error;
    }
    this.#file?.follow(update);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.#engine?.drain(this.#config.drainSeconds * 1000);
    await this.#file?.flush();
  }

  async #startEngine(caStorage: LocalCaStorage): Promise<RunningEngine> {
    const engine = await startEngine({
      options: gatewayOptions(this.#config),
      workers: this.#config.workers,
      observer: this.#observer,
      log: this.#log,
      caStorage,
      errorPrefix: vendorWords(this.#config.vendor).errorPrefix.replace(/_$/, ''),
    });
    this.#engine = engine;
    return engine;
  }
}

/** SQLite is a file itself: whoever has lost it has lost the machine. */
function openFile({ databaseUrl, snapshotFile, secretKey }: Config, log: Logger): SnapshotFile | undefined {
  if (snapshotFile === undefined || databaseUrl.startsWith('sqlite:')) return undefined;
  return new SnapshotFile(snapshotFile, createSealer(secretKey), (error) => {
    log.error({ err: error }, 'the configuration in force could not be written to its file');
  });
}

function gatewayOptions(config: Config): GatewayOptions {
  return {
    tcpListenHost: config.tcpListenHost,
    https: config.httpsListen,
    http: config.httpListen,
    trustedProxies: config.trustedProxies,
    proxyProtocol: {
      tcp: config.proxyProtocol.includes('tcp'),
      https: config.proxyProtocol.includes('https'),
      http: config.proxyProtocol.includes('http'),
    },
    sharePorts: false,
    http1FastPath: config.http1FastPath === 'on',
    ...(config.upstreamCa === undefined ? {} : { upstreamAuthorities: [readFileSync(config.upstreamCa, 'utf8')] }),
    timeouts: {
      headersMs: 10_000,
      upstreamConnectMs: 10_000,
      idleMs: config.idleSeconds * 1000,
      keepAliveMs: 75_000,
    },
  };
}
