import { AgentLine } from '../support/entrances/agent-line.ts';
import { attacks } from '../support/entrances/attacks.ts';
import { Line } from '../support/entrances/line.ts';
import type { AttackCount, AttackOrder } from '../support/entrances/messages.ts';

/** Sends the smallest pieces at a bounded rate, by an `AttackOrder`, until it is killed or its time is over. */
const everyMs = 10;
/** Bytes that were not sent in time are sent later, as far as this time back. */
const latestMs = 100;
const lifeMs = 60_000;

setTimeout(() => process.exit(), lifeMs);
process.on('disconnect', () => process.exit());
process.once('message', (order: AttackOrder) => {
  void begin(order).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});

async function begin(order: AttackOrder): Promise<void> {
  const lines = Array.from({ length: order.connections }, () => newLine(order));
  await Promise.all(lines.map((line) => line.open()));
  const share = order.bytesPerSecond / order.connections;
  for (const line of lines) line.prepare(share * order.seconds);
  process.on('message', (word: unknown) => {
    if (word === 'go') flood(lines, share);
    else if (word === 'count') process.send?.(count(lines));
  });
  process.send?.('ready');
}

function newLine(order: AttackOrder): Line | AgentLine {
  const { attack, target } = order;
  return attack === 'agent-frames' ? new AgentLine(order) : new Line(order, () => attacks[attack](target));
}

function flood(lines: readonly (Line | AgentLine)[], bytesPerSecond: number): void {
  const owed = lines.map(() => 0);
  let beforeMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const more = (bytesPerSecond * (nowMs - beforeMs)) / 1000;
    beforeMs = nowMs;
    for (const [at, line] of lines.entries()) {
      const due = Math.min((owed[at] ?? 0) + more, (bytesPerSecond * latestMs) / 1000);
      owed[at] = due - line.send(Math.floor(due));
    }
  }, everyMs);
}

function count(lines: readonly (Line | AgentLine)[]): AttackCount {
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
  return { bytes: sum(lines.map((line) => line.sentBytes)), closed: sum(lines.map((line) => line.closed)) };
}
