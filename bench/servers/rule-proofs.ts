import { onlyInFirst } from '../../src/lib/ip/address-sets.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import { coverRules, RuleColumns } from '../../src/lib/ip/rule-coverage.ts';
import { Pace } from '../../src/lib/pace.ts';
import { finishInTurns } from '../../src/lib/steps.ts';
import { formatIpv4 } from '../support/addresses.ts';

/**
 * `node rule-proofs.ts COUNT`: reads so many rules, half of them IPv6, finds those that never decide and the addresses that are
 * admitted, and compares these with those of the same rules without every thousandth; prints one JSON object, with processor
 * time.
 */
const count = Number(process.argv[2]);
let longestTurnMs = () => 0;

// V8 compiles the code before the measurement, as in a server that runs.
await prove(20_000);
longestTurnMs = watchTurns();
process.stdout.write(JSON.stringify(await prove(count)));

interface Line {
  readonly text: string;
  readonly action: 'allow' | 'deny';
}

/** Networks of all lengths, a tenth of them inside of others, and each seventh denies. */
function* texts(size: number): Generator<Line> {
  let state = 4_711;
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  for (let at = 0; at < size; at++) {
    const isWide = at % 10 === 0;
    const action = random() % 7 === 0 ? 'deny' : 'allow';
    const [word, more] = [random(), random()];
    if (at % 2 === 0) {
      const prefix = isWide ? 16 : 32 - (more % 5);
      yield { text: `${formatIpv4((word & (-1 << (32 - prefix))) >>> 0)}/${prefix}`, action };
      continue;
    }
    const [high = '', low = ''] = [(word >>> 16) & 0x0fff, word & 0xffff].map((part) => part.toString(16));
    const network = `2${high.padStart(3, '0')}:${low}`;
    const host = `${(more & 0xffff).toString(16)}:1::${((more >>> 16) | 1).toString(16)}`;
    yield { text: isWide ? `${network}::/32` : `${network}:${host}/128`, action };
  }
}

async function prove(size: number) {
  const before = cpuMs();
  const columns = await read(size);
  const parsed = cpuMs();
  const coverage = await finishInTurns(coverRules(columns));
  const covered = cpuMs();
  const less = await finishInTurns(coverRules(await read(size, 1000)));
  const comparing = cpuMs();
  const added = await finishInTurns(onlyInFirst(coverage.admitted, less.admitted));
  const compared = cpuMs();
  const longestMs = longestTurnMs();
  let found = 0;
  for (const [rows, family] of [
    [columns.ipv4, coverage.ipv4],
    [columns.ipv6, coverage.ipv6],
  ] as const)
    for (let row = 0; row < rows.count; row++) if (family.kindOf(row) !== undefined) found += 1;
  return {
    parseMs: parsed - before,
    coverMs: covered - parsed,
    compareMs: compared - comparing,
    longestTurnMs: longestMs,
    idle: found,
    isNew: added.ipv4.length + added.ipv6.length > 0,
  };
}

/** Leaves out every so many. */
async function read(size: number, left = Infinity): Promise<RuleColumns> {
  const columns = new RuleColumns();
  const pace = new Pace();
  let at = 0;
  for (const { text, action } of texts(size)) {
    if (at++ % left === left - 1) continue;
    const parsed = parseCidr(text);
    if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
    columns.append(parsed.cidr, action);
    if (pace.isDue) await pace.giveWay();
  }
  return columns;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Processor time of the longest turn of the event loop, as `turn-watch.ts` measures it. */
function watchTurns(): () => number {
  let before = process.threadCpuUsage();
  let longestMs = 0;
  const look = () => {
    const now = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000);
    before = now;
  };
  setInterval(look, 1).unref();
  return () => longestMs;
}
