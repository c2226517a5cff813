import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { runNodeLoad } from './support/load.ts';
import type { NodeLoadOptions } from './support/node-load.ts';
import { freePort } from './support/process.ts';
import { atMost, compare, figureOf, showNumber } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { setUp } from './support/setup.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

const times = 3;
const requestsPerSecond = 300;
/** Clients with so many connections; what is due while all of them wait for an answer is offered, but not sent. */
const apiConnections = 1_000;
/** Time that the load runs before it counts: connections are opened, and clients that are shed have learned to wait. */
const marginSeconds = 2;

export const overload: Benchmark = {
  name: 'overload',
  summary: `P11: POST at ${times} × the rate that the API sustains, beside ${requestsPerSecond} HTTPS requests a second in the same process`,
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    await using gatehouse = await Gatehouse.start({ settings: { 'tcp-ports': '1024-65535' } });
    await setUp(gatehouse, upstream.port, await freePort());
    const wholeSeconds = seconds + marginSeconds;
    const calls: Omit<NodeLoadOptions, 'connections' | 'seconds'> = {
      port: gatehouse.apiPort,
      method: 'POST',
      paths: ['/api_keys'],
      bodies: ['{"description":"a key"}'],
      headers: { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' },
    };
    const sustained = await measureSustained(calls, seconds);

    const traffic = async () => {
      const { p50Ms, p99Ms } = await runNodeLoad({
        port: gatehouse.httpsPort,
        servername: 'localhost',
        method: 'GET',
        paths: ['/'],
        headers: { Host: 'localhost' },
        connections: 32,
        seconds: wholeSeconds,
        rate: requestsPerSecond,
        skipSeconds: marginSeconds,
      });
      return { p99Ms, p50Ms };
    };
    const flood = async () => {
      const { requests, shed, unsent, p99Ms } = await runNodeLoad({
        ...calls,
        connections: apiConnections,
        seconds: wholeSeconds,
        rate: times * sustained,
        skipSeconds: marginSeconds,
        mayShed: true,
      });
      const offered = requests + shed + unsent;
      return {
        shedShare: (shed / offered) * 100,
        heldBackShare: (unsent / offered) * 100,
        admittedP99Ms: p99Ms,
        offered: offered / seconds / sustained,
        admitted: requests / seconds / sustained,
      };
    };
    const variants = [
      { name: 'traffic alone', measure: traffic },
      {
        name: `beside ${times} × the load`,
        async measure() {
          const [figures, flooded] = await Promise.all([traffic(), flood()]);
          return { ...figures, ...flooded };
        },
      },
    ];
    const outcomes = await interleave(variants, { rounds, warmUps: 1 });
    const [alone, flooded] = outcomes;
    const columns = [
      { figure: 'p99Ms', head: 'traffic p99 ms' },
      { figure: 'p50Ms', head: 'traffic p50 ms' },
      { figure: 'offered', head: 'calls offered × sustained' },
      { figure: 'admitted', head: 'admitted × sustained' },
      { figure: 'shedShare', head: 'shed %' },
      { figure: 'heldBackShare', head: 'not sent, as told to wait %' },
      { figure: 'admittedP99Ms', head: 'admitted p99 ms' },
    ];
    const ratio = figureOf(flooded, 'p99Ms').median / figureOf(alone, 'p99Ms').median;
    return {
      title: 'more calls than the API can serve',
      lines: [
        `The API sustains ${showNumber(sustained)} calls a second here, 64 at a time.`,
        '',
        ...compare(variants, outcomes, columns, 'traffic alone'),
      ],
      verdicts: [
        atMost('P11', 'p99 of admitted calls ÷ 1 s', figureOf(flooded, 'admittedP99Ms').median / 1000, 1),
        atMost('P11', 'p99 of traffic beside overload ÷ alone', ratio, 3),
      ],
    };
  },
};

/** Measures the rate at which calls are answered that come one after another on 64 connections. */
async function measureSustained(
  calls: Omit<NodeLoadOptions, 'connections' | 'seconds'>,
  seconds: number,
): Promise<number> {
  const rates: number[] = [];
  // The first run warms up.
  for (let round = 0; round < 4; round++) {
    const { requests, seconds: elapsed } = await runNodeLoad({ ...calls, connections: 64, seconds });
    if (round > 0) rates.push(requests / elapsed);
  }
  return median(rates);
}
