import type { TestContext } from 'node:test';

import { Agent, usualTimes } from '../../../src/agent-client/agent.ts';
import type { AgentEnd, AgentTimes } from '../../../src/agent-client/agent.ts';
import type { RecentExchanges } from '../../../src/agent-client/inspect/recent-exchanges.ts';
import { planTunnel } from '../../../src/agent-client/plan.ts';
import type { TunnelFlags } from '../../../src/agent-client/plan.ts';
import type { AgentState, Reporter } from '../../../src/agent-client/reporter.ts';
import type { TunnelKind } from '../../../src/agent-client/target.ts';
import { until } from '../../e2e/gateway/support/until.ts';
import { caPem } from './listener.ts';

/** Our own agent in this process, with all that it would tell its operator. */
export class RecordedAgent implements Reporter {
  readonly states: AgentState[] = [];
  /** Lines about requests, connections and targets. */
  readonly lines: string[] = [];
  ending: AgentEnd | undefined;
  /** Makes it end as its operator would. */
  stop: () => void = () => {};

  state(state: AgentState): void {
    this.states.push(state);
  }

  inspecting(): void {}

  request({ method, path, status }: Parameters<Reporter['request']>[0]): void {
    this.lines.push(`${method} ${path} ${status}`);
  }

  connection({ bytesIn, bytesOut }: Parameters<Reporter['connection']>[0]): void {
    this.lines.push(`connection ${bytesIn} ${bytesOut}`);
  }

  targetFailed(_target: unknown, reason: string): void {
    this.lines.push(`target: ${reason}`);
  }

  async end(): Promise<void> {}

  /** Addresses that it had, in turn. */
  get addresses(): readonly string[] {
    return this.states.flatMap((state) => (state.kind === 'online' ? [state.address] : []));
  }

  /** Why it was offline, in turn, and how long it waited then. */
  get losses(): readonly { readonly reason: string; readonly retryMs: number }[] {
    return this.states.flatMap((state) => (state.kind === 'offline' ? [state] : []));
  }

  async online(times = 1): Promise<string> {
    await until(
      () => this.addresses.length >= times || this.ending !== undefined,
      () => `online: ${JSON.stringify(this.states)}`,
    );
    const address = this.addresses[times - 1];
    if (address === undefined) throw new Error(`it ended: ${JSON.stringify(this.ending)}`);
    return address;
  }
}

interface Asked {
  readonly kind?: TunnelKind;
  readonly target: string | number;
  readonly flags?: TunnelFlags;
  readonly token?: string;
  readonly times?: Partial<AgentTimes>;
  readonly recent?: RecentExchanges;
}

/** Starts an agent for the listener on this port, with times of a few milliseconds. */
export function startAgent(
  t: TestContext,
  port: number,
  { kind = 'http', target, flags = {}, token = 'token-a', times = {}, recent }: Asked,
): RecordedAgent {
  const recorded = new RecordedAgent();
  const agent = new Agent({
    server: { host: 'localhost', port, ca: caPem },
    facts: { token, version: '1.2.3' },
    plan: planTunnel(kind, String(target), flags, []),
    reporter: recorded,
    times: { ...usualTimes, backoffMs: [20, 40, 80, 100], drainMs: 100, ...times },
    recent,
  });
  recorded.stop = () => {
    agent.stop();
  };
  const running = agent.run().then((end) => {
    recorded.ending = end;
  });
  t.after(async () => {
    agent.stop();
    await running;
  });
  return recorded;
}
