import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, openSync, readFileSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { freePort } from '../../../support/free-port.ts';
import { installCommand, patroniPackages } from '../../../support/install-programs.ts';
import { until } from '../../gateway/support/until.ts';
import { childrenOf } from '../../many-processes/support/crashing-postgres.ts';

/** PostgreSQL refuses to run as root; this user is on every Unix system. */
const nobody = { uid: 65_534, gid: 65_534 };
const runAs = process.getuid?.() === 0 ? nobody : {};

/** Debian's, or another one that is installed. */
const program = process.env['TEST_PATRONI'] ?? 'patroni';

/** A server that was leader may have to be copied anew, on a busy machine. */
const wholeMs = 600_000;

interface Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly folder: string;
  patroni: ChildProcess | undefined;
}

/** Three PostgreSQL servers that Patroni manages by an etcd, with synchronous replication. */
export class PatroniCluster implements AsyncDisposable {
  readonly #folder: string;
  readonly #etcd: ChildProcess;
  readonly #nodes: readonly Node[];
  /** Its major and minor number, as a fraction. */
  readonly version: number;

  private constructor(version: number, folder: string, etcd: ChildProcess, nodes: readonly Node[]) {
    this.version = version;
    this.#folder = folder;
    this.#etcd = etcd;
    this.#nodes = nodes;
  }

  static async start(): Promise<PatroniCluster> {
    const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (error !== undefined || spawnSync('etcd', ['--version']).error !== undefined)
      throw new Error(`This test needs Patroni. Run "${installCommand(patroniPackages)}" as root.`);
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-patroni-'));
    if ('uid' in runAs) await chown(folder, nobody.uid, nobody.gid);
    const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    const etcdOptions = {
      'data-dir': join(folder, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    };
    const args = Object.entries(etcdOptions).flatMap(([name, value]) => [`--${name}`, value]);
    // Debian's package for arm64 asks for this.
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch };
    const etcd = spawn('etcd', args, { ...runAs, cwd: folder, env, stdio: 'ignore' });
    const nodes: Node[] = [];
    for (const name of ['a', 'b', 'c']) {
      const node = { name, port: await freePort(), restPort: await freePort(), folder: join(folder, name) };
      await mkdir(node.folder);
      if ('uid' in runAs) await chown(node.folder, nobody.uid, nobody.gid);
      await writeFile(join(node.folder, 'patroni.json'), JSON.stringify(settingsOf(node, new URL(client).host)));
      nodes.push({ ...node, patroni: undefined });
    }
    const cluster = new PatroniCluster(Number(/\d+\.\d+/.exec(stdout)?.[0]), folder, etcd, nodes);
    for (const node of nodes) cluster.#launch(node);
    await cluster.whole();
    return cluster;
  }

  get url(): string {
    const hosts = this.#nodes.map(({ port }) => `127.0.0.1:${port}`);
    return `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`;
  }

  /** Waits until it has a leader, and two standbys of which one is synchronous. */
  async whole(): Promise<void> {
    const isWhole = async () => {
      const running = (await this.#members()).filter(({ state }) => ['running', 'streaming'].includes(state));
      const roles = new Set(running.map(({ role }) => role));
      return ['leader', 'replica', 'sync_standby'].every((role) => roles.has(role));
    };
    await until(isWhole, 'the cluster is whole', wholeMs).catch(async (error: unknown) => {
      const logs = this.#nodes.map(({ name, folder }) => `${name}:\n${lastLines(join(folder, 'patroni.log'))}`);
      throw new Error(`${JSON.stringify(await this.#members())}\n${logs.join('\n')}`, { cause: error });
    });
  }

  async leader(): Promise<string> {
    return (await this.#members()).find(({ role }) => role === 'leader')?.name ?? '';
  }

  async switchOver(): Promise<void> {
    const leader = await this.leader();
    const target = this.#nodes.find(({ name }) => name === leader);
    const body = JSON.stringify({
      leader,
      candidate: (await this.#members()).find(({ role }) => role === 'sync_standby')?.name,
    });
    const answer = await fetch(`http://127.0.0.1:${target?.restPort}/switchover`, { method: 'POST', body });
    if (answer.status !== 200) throw new Error(`no switchover: ${await answer.text()}`);
  }

  /** Kills all processes of the leader at once. Returns a function that starts it again. */
  async kill(): Promise<() => void> {
    const node = await this.#leadingNode();
    for (const pid of await this.#pidsOf(node)) signal(pid, 'SIGKILL');
    return () => this.#launch(node);
  }

  /** Stops all processes of the leader in the middle of whatever they do. Returns a function that lets them go on. */
  async freeze(): Promise<() => void> {
    const node = await this.#leadingNode();
    const pids = await this.#pidsOf(node);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    return () => {
      const [patroni = 0] = pids;
      // Before 3.1, a Patroni that stood still goes on with what it remembers of etcd for good (its issue 2779).
      if (this.version < 3.1) signal(patroni, 'SIGKILL');
      for (const pid of pids) signal(pid, 'SIGCONT');
      if (this.version < 3.1) this.#launch(node);
    };
  }

  /** Stops the server of the leader alone: its Patroni goes on. Returns a function that lets the server go on. */
  async freezeServer(): Promise<() => void> {
    const node = await this.#leadingNode();
    const pids = (await this.#pidsOf(node)).filter((pid) => pid !== node.patroni?.pid);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    return () => {
      for (const pid of pids) signal(pid, 'SIGCONT');
    };
  }

  /** Kills the Patroni of the leader: its server lives on, and nobody stops it. Returns a function that starts Patroni again. */
  async killPatroni(): Promise<() => void> {
    const node = await this.#leadingNode();
    if (node.patroni?.pid !== undefined) signal(node.patroni.pid, 'SIGKILL');
    return () => this.#launch(node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) {
      for (const pid of await this.#pidsOf(node)) signal(pid, 'SIGKILL');
    }
    const gone = once(this.#etcd, 'exit');
    this.#etcd.kill('SIGKILL');
    await gone;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  #launch(node: Node): void {
    const file = join(node.folder, 'patroni.json');
    const log = openSync(join(node.folder, 'patroni.log'), 'a');
    node.patroni = spawn(program, [file], { ...runAs, cwd: node.folder, stdio: ['ignore', log, log] });
    closeSync(log);
  }

  async #leadingNode(): Promise<Node> {
    const name = await this.leader();
    const node = this.#nodes.find((each) => each.name === name);
    if (node === undefined) throw new Error('there is no leader');
    return node;
  }

  /** Patroni first: it would start the server again. */
  async #pidsOf({ patroni, folder }: Node): Promise<readonly number[]> {
    const file = await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
    const server = Number(file.split('\n')[0]);
    const own = patroni?.pid === undefined ? [] : [patroni.pid];
    return server > 0 ? [...own, server, ...(await childrenOf(server))] : own;
  }

  async #members(): Promise<readonly { readonly name: string; readonly role: string; readonly state: string }[]> {
    for (const { restPort } of this.#nodes) {
      const limit = AbortSignal.timeout(1_000);
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: limit }).catch(() => undefined);
      const body: unknown = await answer?.json().catch(() => undefined);
      // The API of Patroni answers so.
      if (body !== undefined) return (body as { members: [] }).members;
    }
    return [];
  }
}

function settingsOf({ name, port, restPort, folder }: Omit<Node, 'patroni'>, etcdHost: string): object {
  const [version = ''] = globSync('/usr/lib/postgresql/*/bin/postgres').toSorted().toReversed();
  const trusted = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  return {
    scope: 'gatehouse',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: etcdHost },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          // A server that was away has no slot any more: without this, what it has missed may be gone.
          parameters: { max_connections: 100, wal_log_hints: 'on', wal_keep_size: '1GB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: dirname(version),
      pgpass: join(folder, 'pgpass'),
      pg_hba: trusted,
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
        rewind: { username: 'postgres' },
      },
      parameters: { unix_socket_directories: folder },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}

function lastLines(path: string): string {
  return readFileSync(path, 'utf8').split('\n').slice(-25).join('\n');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
