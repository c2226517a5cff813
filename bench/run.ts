import { writeFileSync } from 'node:fs';
import { inspect, parseArgs } from 'node:util';

import { change } from './change.ts';
import { cores } from './cores.ts';
import { decisions } from './decisions.ts';
import { get } from './get.ts';
import { handshakes } from './handshakes.ts';
import { http2 } from './http2.ts';
import { https } from './https.ts';
import { kept } from './kept.ts';
import { latency } from './latency.ts';
import { list } from './list.ts';
import { match } from './match.ts';
import { memory } from './memory.ts';
import { moments } from './moments.ts';
import { neighbours } from './neighbours.ts';
import { overload } from './overload.ts';
import { policies } from './policies.ts';
import { post } from './post.ts';
import { postgres } from './postgres.ts';
import { proofs } from './proofs.ts';
import { safeguards } from './safeguards.ts';
import { sessions } from './sessions.ts';
import { start } from './start.ts';
import { tcp } from './tcp.ts';
import { tunnel } from './tunnel.ts';
import type { Benchmark, Settings } from './support/benchmark.ts';
import { leaveServerCore } from './support/cores.ts';
import { describeMachine } from './support/machine.ts';
import { table } from './support/report.ts';
import type { Section, Verdict } from './support/report.ts';

const benchmarks: readonly Benchmark[] = [
  get,
  list,
  post,
  postgres,
  safeguards,
  https,
  cores,
  http2,
  handshakes,
  tcp,
  change,
  latency,
  overload,
  sessions,
  decisions,
  kept,
  match,
  proofs,
  policies,
  memory,
  moments,
  start,
  tunnel,
  neighbours,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !benchmarks.some((each) => each.name === name));

if (values.help || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no benchmark ${unknown.join(', ')}.\n`);
  process.stdout.write(usage());
  process.exitCode = unknown.length > 0 ? 1 : 0;
} else {
  await runAll(positionals.length === 0 ? benchmarks : benchmarks.filter(({ name }) => positionals.includes(name)));
}

async function runAll(chosen: readonly Benchmark[]): Promise<void> {
  leaveServerCore();
  const settings: Settings = {
    quick: values.quick,
    rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
    seconds: values.quick ? 1 : 2,
  };
  const lines: string[] = [];
  const say = (added: readonly string[]) => {
    lines.push(...added);
    process.stdout.write(`${added.join('\n')}\n`);
  };
  const startMs = performance.now();
  say(describeMachine(settings));
  const verdicts: Verdict[] = [];
  for (const benchmark of chosen) {
    // One that cannot run, because a peer of it does not start, must not cost the figures of half an hour.
    const section = await benchmark.run(settings).catch((error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`${inspect(error)}\n`);
      return { title: 'did not run', lines: [String(error).split('\n', 1)[0] ?? ''], verdicts: [] };
    });
    say(['', `## \`${benchmark.name}\`: ${section.title}`, '', `${benchmark.summary}.`, '', ...section.lines]);
    verdicts.push(...section.verdicts);
  }
  say(['', '## Goals', '', ...goals(verdicts), '', `Took ${Math.round((performance.now() - startMs) / 1000)} s.`]);
  if (values.write) writeFileSync(new URL('RESULTS.md', import.meta.url), `${lines.join('\n')}\n`);
}

function goals(verdicts: Section['verdicts']): readonly string[] {
  const rows = verdicts.map(({ goal, what, measured, wanted, met }) => [
    goal,
    what,
    measured,
    wanted,
    met ? 'yes' : '**no**',
  ]);
  return table(['goal', 'what', 'measured', 'wanted', 'reached'], rows);
}

function usage(): string {
  const names = benchmarks.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`).join('\n');
  return `node bench/run.ts [NAME …] [--quick] [--rounds N] [--write]

${names}

--quick   short rounds, to see that it works
--write   writes what was measured into bench/RESULTS.md
`;
}
