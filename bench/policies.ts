import type { Benchmark } from './support/benchmark.ts';
import { Process } from './support/process.ts';
import { atMost, showNumber, showSummary, table } from './support/report.ts';
import { median, summarize } from './support/statistics.ts';

/** Goal of the rules of a policy against the modules with the same effects. */
const mostOfModules = 1.3;
/** Goal of 500 rules by path against ten. */
const mostOfMany = 3;

export const policies: Benchmark = {
  name: 'policies',
  summary: 'ten rules of a traffic policy beside the same effects as modules, and 500 rules by path beside ten',
  async run({ rounds, quick }) {
    const path = new URL('servers/policy-rules.ts', import.meta.url).pathname;
    await using program = new Process([process.execPath, path, String(rounds * 2), quick ? '50' : '200']);
    // The program prints this.
    const { nanoseconds } = JSON.parse(await program.ended()) as {
      readonly nanoseconds: Readonly<Record<string, readonly number[]>>;
    };
    const cost = (name: string) => median(nanoseconds[name] ?? []);
    const base = cost('ten modules');
    const forms = Object.keys(nanoseconds).flatMap((name) => (name.startsWith('500 ') ? [name.slice(4)] : []));
    const baseOf = (name: string) => {
      const form = forms.find((each) => name === `10 ${each}` || name === `500 ${each}`);
      return form === undefined ? base : cost(`10 ${form}`);
    };
    const rows = Object.entries(nanoseconds).map(([name, taken]) => [
      name,
      `${showSummary(summarize(taken))} ns`,
      showNumber(median(taken) / baseOf(name)),
    ]);
    return {
      title: 'rules of traffic policies',
      lines: [
        'CPU time of the steps for one request and its answer, the ratio to ten modules or to ten rules of the same form:',
        '',
        ...table(['', 'time', 'ratio'], rows),
      ],
      verdicts: [
        atMost('policies', 'ten rules ÷ ten modules', cost('ten rules') / base, mostOfModules),
        ...forms.map((form) =>
          atMost('policies', `500 rules ÷ ten, ${form}`, cost(`500 ${form}`) / cost(`10 ${form}`), mostOfMany),
        ),
      ],
    };
  },
};
