import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describeDatabase } from '../../../../src/lib/database-url.ts';
import { createSealer } from '../../../../src/lib/sealed-secret.ts';
import { SnapshotFile } from '../../../../src/snapshot/snapshot-file.ts';
import { freePort } from '../../../support/free-port.ts';
import { CrashingPostgres } from './crashing-postgres.ts';
import { Running } from './running.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { askName, startNamed } from './traffic.ts';
import { until } from './waiting.ts';

/** PostgreSQL, an API, a gateway that reaches it through a proxy, and a TCP edge with one of two backends behind it. */
export class Stage implements AsyncDisposable {
  readonly postgres: CrashingPostgres;
  readonly database: string;
  readonly proxy: TcpProxy;
  readonly api: Running;
  readonly port: number;
  gateway: Running;
  /** Name of the backend that the edge points to. */
  expectedName = 'one';
  /** The change that pointed the edge there. */
  #version = 0;
  readonly #owned: AsyncDisposableStack;
  readonly #file: string;
  readonly #gatewayDatabase: string;
  readonly #backends: ReadonlyMap<string, string>;
  readonly #edge: string;

  private constructor(parts: Awaited<ReturnType<typeof build>>) {
    this.postgres = parts.postgres;
    this.database = parts.database;
    this.proxy = parts.proxy;
    this.#gatewayDatabase = parts.gatewayDatabase;
    this.api = parts.api;
    this.port = parts.port;
    this.gateway = parts.gateway;
    this.#owned = parts.owned;
    this.#file = parts.file;
    this.#backends = parts.backends;
    this.#edge = parts.edge;
  }

  static async set(): Promise<Stage> {
    const stage = new Stage(await build());
    await until('traffic flows', async () => (await askName(stage.port)) === stage.expectedName);
    return stage;
  }

  /** Points the edge to the other backend; resolves when the gateway obeys. */
  async switchBackend(): Promise<void> {
    this.expectedName = this.expectedName === 'one' ? 'two' : 'one';
    const body = { backend_id: this.#backends.get(this.expectedName) };
    const { status, text } = await this.api.call('PUT', `/edges/tcp/${this.#edge}/backend`, body);
    assert.equal(status, 200, text);
    const { body: log } = await this.api.call('GET', '/changes?limit=1');
    this.#version = log.changes[0].version;
    await until('the gateway follows', async () => (await askName(this.port)) === this.expectedName);
  }

  /** The snapshot file holds the last change of the edge. */
  async isSaved(): Promise<boolean> {
    const database = describeDatabase(this.#gatewayDatabase);
    const saved = await new SnapshotFile(this.#file, createSealer(undefined), database, assert.ifError).load();
    // The edge may have pointed there before, in a file that the next one has not replaced yet.
    return saved !== undefined && saved.update.version >= this.#version;
  }

  async restartGateway(): Promise<void> {
    await this.gateway.kill();
    this.gateway = Running.launch(this.#gatewayDatabase, gatewayFlags(this.#file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.kill();
    await this.#owned.disposeAsync();
  }
}

function gatewayFlags(file: string) {
  return { role: 'gateway', 'snapshot-file': file, 'access-log': '0' };
}

async function build() {
  await using owned = new AsyncDisposableStack();
  const folder = owned.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-outage-')), (path) =>
    rm(path, { recursive: true }),
  );
  const postgres = owned.use(await CrashingPostgres.start());
  const database = await postgres.createDatabase();
  const api = owned.use(await Running.start(database));
  const backends = new Map<string, string>();
  for (const name of ['one', 'two']) {
    const { address } = owned.use(await startNamed(name));
    backends.set(name, (await api.create('/backends/static', { address })).id);
  }
  const port = await freePort();
  const edge = { hostports: [`127.0.0.1:${port}`], backend: { backend_id: backends.get('one') } };
  const { id } = await api.create('/edges/tcp', edge);
  const file = join(folder, 'gateway.snapshot');
  const { proxy, url: gatewayDatabase } = await TcpProxy.before(database);
  owned.use(proxy);
  const gateway = await Running.start(gatewayDatabase, gatewayFlags(file));
  const parts = { postgres, database, proxy, gatewayDatabase, api, backends, port, edge: String(id), file, gateway };
  return { ...parts, owned: owned.move() };
}
