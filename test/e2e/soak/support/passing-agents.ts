import { setTimeout as sleep } from 'node:timers/promises';

import { StreamDuplex } from '../../../../src/agents/mux/stream-duplex.ts';
import type { MuxStream } from '../../../../src/agents/mux/mux-stream.ts';
import { signIn } from '../../../agents/support/sign-in.ts';
import type { Served } from '../../agents/support/served.ts';
import { until } from '../../gateway/support/until.ts';

const pauseMs = 250;
const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';

/** Agents that connect, open an endpoint, serve a visitor and disconnect, some with a word and some without, until stopped. */
export class PassingAgents {
  rounds = 0;
  /** Descriptions of failed rounds; a soak expects none. */
  readonly failures: string[] = [];
  readonly #served: Served;
  readonly #token: string;
  /** Rounds that each agent has begun. */
  readonly #begun: number[] = [];
  #stopping = false;
  readonly #agents: readonly Promise<void>[];

  constructor(served: Served, token: string, count: number) {
    this.#served = served;
    this.#token = token;
    this.#agents = Array.from({ length: count }, (_, at) => this.#repeat(`passing-${at}.localhost`));
  }

  /** Resolves when each agent has ended the round that it had under way. */
  async untilNoticed(): Promise<void> {
    const before = [...this.#begun];
    const isOver = () => this.#stopping || this.#begun.every((count, at) => count > (before[at] ?? 0));
    await until(isOver, 'a round of each agent');
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#agents);
  }

  async #repeat(name: string): Promise<void> {
    const agent = this.#begun.push(0) - 1;
    for (let round = 0; !this.#stopping; round++) {
      this.#begun[agent] = round + 1;
      try {
        await this.#comeAndGo(name, round % 2 === 0);
        this.rounds += 1;
      } catch (error) {
        this.failures.push(`agent ${name}: ${String(error)}`);
      }
      await sleep(pauseMs);
    }
  }

  async #comeAndGo(name: string, leavesInOrder: boolean): Promise<void> {
    const { agentPort, ca } = this.#served;
    const { agent, answer: signedIn } = await signIn(agentPort, ca, this.#token, { visitor: answerVisitor });
    try {
      const bound = await agent.bind(name);
      const faults = [signedIn['Error'], bound['Error']].filter((fault) => fault !== undefined && fault !== '');
      if (faults.length > 0) throw new Error(faults.join('; '));
      const { status, text } = await this.#served.ask(name);
      if (status !== 200) throw new Error(`a visitor got ${status} ${text}`);
      if (leavesInOrder) await agent.call('unbind', { Id: String(bound['Id']), Extra: {} });
    } finally {
      agent.socket.destroy();
    }
  }
}

function answerVisitor(stream: MuxStream): StreamDuplex {
  const duplex = new StreamDuplex();
  duplex.on('error', () => {});
  duplex.once('data', () => duplex.resume().end(answer));
  return duplex.attach(stream);
}
