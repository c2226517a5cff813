import { GatehouseClient } from '../client/src/index.ts';
import { GatehouseProcess } from '../test/support/gatehouse-process.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Plans and applies a configuration of many edges, while another account reads and writes, and prints how long all of it
 * takes: `node bench/configuration.ts [--edges 10000] [--database-url …]`.
 */
const count = Number(flag('--edges') ?? 10_000);
const token = 'the-token-of-the-benchmark-0123456789';
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
try {
  const url = flag('--database-url') ?? `sqlite:${join(folder, 'bench.db')}`;
  const more = ['--bootstrap-token', token, '--max-wait-ms', '60000'];
  await using server = await GatehouseProcess.serve(url, more);
  const other = await otherAccount(url);
  const client = new GatehouseClient({ url: server.url, token });
  const entries = edges(count);
  for (const [title, query, body] of [
    ['plan, empty server', { dry_run: 'true' }, entries],
    ['apply, empty server', {}, entries],
    ['plan, no changes', { dry_run: 'true' }, entries],
    ['apply, no changes', {}, entries],
    ['apply, one change', {}, [...entries.slice(0, -1), { ...entries.at(-1), description: 'changed' }]],
    ['apply, delete all', { prune: 'true' }, entries.slice(0, 1)],
  ] as const) {
    const beside = callBeside(server.url, other);
    const startMs = performance.now();
    const { created, changed, deleted } = await client.call('ConfigurationApply', { query, body: body as never });
    const seconds = (performance.now() - startMs) / 1000;
    const { reads, writes } = await beside.stop();
    print(`${title}: ${seconds.toFixed(2)} s (${created} created, ${changed} changed, ${deleted} deleted)`);
    print(`  another account beside it: ${describe('reads', reads)}; ${describe('writes', writes)}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Each with a host name, a route to one of 100 backends, and headers. */
function edges(wanted: number): readonly object[] {
  const backends = Array.from({ length: 100 }, (_, at) => ({
    kind: 'static_backends',
    name: `app-${at}`,
    address: `app-${at}.internal:8080`,
  }));
  const all = Array.from({ length: wanted }, (_, at) => ({
    kind: 'https_edges',
    name: `edge-${at}`,
    hostports: [`edge-${at}.example.com:443`],
    routes: { '/': { backend: { backend: `app-${at % 100}` }, request_headers: { add: { 'x-edge': String(at) } } } },
  }));
  return [...backends, ...all];
}

async function otherAccount(databaseUrl: string): Promise<string> {
  const run = async (...args: readonly string[]) => {
    const { code, out, errors } = await GatehouseProcess.run([...args, '--database-url', databaseUrl]);
    if (code !== 0) throw new Error(errors);
    return out;
  };
  const [account = ''] = (await run('accounts', 'create', '--name', 'other')).split(' ', 1);
  const made = await run('users', 'create', '--account', account, '--role', 'admin', '--name', 'other');
  return /token \(shown once\): (\S+)/.exec(made)?.[1] ?? '';
}

/** Reads and writes, one after another each, and notes how long each call takes. */
function callBeside(url: string, otherToken: string) {
  const client = new GatehouseClient({ url, token: otherToken });
  const over = new AbortController();
  const repeat = async (call: () => Promise<unknown>): Promise<readonly number[]> => {
    const times: number[] = [];
    while (!over.signal.aborted) {
      const startMs = performance.now();
      await call();
      times.push(performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return times;
  };
  const reads = repeat(() => client.call('IpPoliciesList'));
  const writes = repeat(() => client.call('IpPoliciesCreate', { body: {} }));
  return {
    async stop() {
      over.abort();
      return { reads: await reads, writes: await writes };
    },
  };
}

function describe(what: string, times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
  return `${sorted.length} ${what}, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms`;
}

function flag(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
