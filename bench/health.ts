import { createUpstream } from '../src/gateway/upstream/create-upstream.ts';
import { HealthBoard } from '../src/gateway/health/health-board.ts';
import { HealthChecker } from '../src/gateway/health/health-checker.ts';
import type { ActiveCheckEntry, BackendEntry } from '../src/snapshot/contract.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:health -- [backends] [interval in seconds]`: processor time of active checks, as share of one core. The
 * upstream is a process of its own and not counted.
 */
const [backends = 10_000, intervalSeconds = 30] = process.argv.slice(2).map(Number);
const rounds = 3;

await using upstream = await startUpstream();
const observer = { backendRefused: () => {} };
const inward = { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' };
for (const kind of ['http', 'tcp'] as const) {
  const { connect } = createUpstream({ options: { inward }, observer });
  let notes = 0;
  let checks = 0;
  const board = new HealthBoard(() => {});
  const checker = new HealthChecker(
    (...call) => {
      checks++;
      return connect(...call);
    },
    (note) => {
      notes++;
      board.note([note]);
    },
  );
  const active: ActiveCheckEntry = {
    kind,
    path: '/',
    statuses: [[200, 299]],
    intervalMs: intervalSeconds * 1000,
    timeoutMs: 2000,
    failures: 3,
    passes: 2,
  };
  const address = { host: '127.0.0.1', port: upstream.port };
  const set = Array.from({ length: backends }, (_, at): BackendEntry => ({
    kind: 'backend',
    id: `bkdsc_${at}`,
    ...address,
    tls: false,
    balance: {
      addresses: [{ ...address, weight: 1 }],
      by: 'round_robin',
      retries: 1,
      whenAllDown: 'fail_open',
      slowStartMs: 0,
      active,
    },
  }));
  for (const follower of [board, checker]) follower.prepare({ version: 1, full: true, set, removed: [] })();
  checker.run(true);
  await passed(intervalSeconds);
  for (let round = 0; round < rounds; round++) {
    const [before, startMs, checksBefore] = [process.cpuUsage(), performance.now(), checks];
    await passed(intervalSeconds);
    const { user, system } = process.cpuUsage(before);
    const share = (user + system) / 1000 / (performance.now() - startMs);
    const perCheck = (user + system) / (checks - checksBefore);
    console.log(
      `${kind}: ${backends} backends every ${intervalSeconds} s: ${(share * 100).toFixed(1)} % of a core, ` +
        `${perCheck.toFixed(0)} µs a check, ${notes} results told, ${board.states().length} down`,
    );
  }
  checker.run(false);
}

function passed(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
