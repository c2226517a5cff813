import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAccount } from '../test/e2e/gateway/support/host-command.ts';
import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse, newDatabaseFile } from './support/gatehouse.ts';
import { runNodeLoad } from './support/load.ts';
import { freePort } from './support/process.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures } from './support/rounds.ts';
import { agentAccess, endpointPort, startAgent } from './support/tunnel.ts';
import { startUpstream } from './support/upstream.ts';

const maxStreams = 256;
/** Visitors beyond the limit, of each of which a connection is reset. */
const refusedPerSecond = 200;
const requestsPerSecond = 500;

export const neighbours: Benchmark = {
  name: 'neighbours',
  summary: `P12: latency through an agent while another account is at its limit of ${maxStreams} streams and ${refusedPerSecond} more visitors a second come to it`,
  async run({ rounds, seconds }) {
    await using started = new AsyncDisposableStack();
    const upstream = started.use(await startUpstream());
    const agentPort = await freePort();
    const databaseFile = await newDatabaseFile();
    const gatehouse = started.use(
      await Gatehouse.start({
        databaseFile,
        settings: {
          'agent-listen': `127.0.0.1:${agentPort}`,
          'agent-max-streams': String(maxStreams),
          'tcp-ports': '20000-20999',
        },
      }),
    );
    const access = await agentAccess(gatehouse);
    const otherToken = await createAccount(`sqlite:${databaseFile}`, 'other');
    const otherAccess = { ...access, token: await createCredential(gatehouse, otherToken) };
    const port = await endpointPort(started.use(startAgent(agentPort, access, upstream.port)));
    const busyPort = await endpointPort(started.use(startAgent(agentPort, otherAccess, upstream.port)));
    const visits = async (): Promise<Figures> => {
      const { p50Ms, p99Ms } = await runNodeLoad({
        port,
        method: 'GET',
        paths: ['/'],
        headers: { Host: 'localhost' },
        connections: 8,
        seconds: seconds * 2,
        rate: requestsPerSecond,
        skipSeconds: 0.5,
      });
      return { p99Ms, p50Ms };
    };
    const variants = [
      { name: 'the other account is idle', measure: visits },
      {
        name: 'the other account is at its limit',
        async measure() {
          await using crowd = await Crowd.gather(busyPort);
          return { ...(await visits()), refused: crowd.refused };
        },
      },
    ];
    const outcomes = await interleave(variants, { rounds });
    const [alone = Number.NaN, beside = Number.NaN] = outcomes.map((outcome) => figureOf(outcome, 'p99Ms').median);
    const columns = [
      { figure: 'p99Ms', head: 'p99 ms' },
      { figure: 'p50Ms', head: 'p50 ms' },
      { figure: 'refused', head: 'refused' },
    ];
    return {
      title: 'an account beside one that is at its limits',
      lines: compare(variants, outcomes, columns, 'the other account is idle'),
      verdicts: [atMost('P12', 'p99 beside an account at its limits ÷ p99 alone', beside / alone, 1.1)],
    };
  },
};

async function createCredential(gatehouse: Gatehouse, token: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${gatehouse.apiPort}/credentials`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'service-version': '2', 'content-type': 'application/json' },
    body: '{}',
  });
  // The answer to a new credential has this form.
  return ((await answer.json()) as { readonly token: string }).token;
}

/** Visitors that hold all streams of an agent, and others that come all the time and are refused. */
class Crowd implements AsyncDisposable {
  refused = 0;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #coming: NodeJS.Timeout;

  private constructor(port: number) {
    this.#port = port;
    this.#coming = setInterval(() => this.#come(), 1000 / refusedPerSecond);
  }

  static async gather(port: number): Promise<Crowd> {
    const crowd = new Crowd(port);
    for (let at = 0; at < maxStreams; at++) crowd.#come();
    const endMs = performance.now() + 30_000;
    while (crowd.refused === 0) {
      if (performance.now() > endMs) throw new Error('nobody was refused: the account is not at its limit');
      await sleep(50);
    }
    return crowd;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#coming);
    for (const socket of this.#sockets) socket.destroy();
    await sleep(500);
  }

  #come(): void {
    const socket = connect(this.#port, '127.0.0.1');
    this.#sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', (hadError) => {
        if (hadError) this.refused += 1;
        this.#sockets.delete(socket);
      });
  }
}
