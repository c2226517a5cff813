import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { Random } from '../gateway/support/random.ts';
import { until } from '../gateway/support/until.ts';
import { TcpProxy } from '../many-processes/support/tcp-proxy.ts';
import type { LibraryAgent } from '../agents/support/library-agent.ts';
import { backLimitMs, Served } from '../agents/support/served.ts';

/** Names and ports after everything that can happen to a connection: they come back, and only to their account. */

/** Each kind of trouble once, or many times. */
const troubles = rounds(5, 1000);
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

class Story {
  readonly served: Served;
  readonly proxy: TcpProxy;
  readonly #random: Random;
  readonly #token: string;
  readonly #strangersToken: string;
  readonly #addr: string;
  #agent: LibraryAgent;
  #moves = 0;
  /** Kinds of trouble that have not come yet, before all come again. */
  #left: string[] = [];

  private constructor(parts: {
    readonly served: Served;
    readonly proxy: TcpProxy;
    readonly token: string;
    readonly strangersToken: string;
    readonly addr: string;
    readonly agent: LibraryAgent;
  }) {
    this.served = parts.served;
    this.proxy = parts.proxy;
    this.#token = parts.token;
    this.#strangersToken = parts.strangersToken;
    this.#addr = parts.addr;
    this.#agent = parts.agent;
    this.#random = new Random(seed);
  }

  static async begin(served: Served, proxy: TcpProxy): Promise<Story> {
    const strangersToken = await served.newToken(await served.newAccount('strangers'));
    const { addr } = await served.program.must('POST', '/reserved_addrs', {});
    const token = await served.newToken();
    const agent = await startAgent(served, proxy, token, addr);
    return new Story({ served, proxy, token, strangersToken, addr, agent });
  }

  /** Kinds of trouble, by name. Each ends when everything must be on its way back. */
  readonly kinds: Readonly<Record<string, () => Promise<void>>> = {
    'the agent is killed and started again': async () => {
      this.#agent.signal('SIGKILL');
      await this.#agent.exited;
      await this.#strangerIsRefused();
      await this.#startAnother();
    },
    'the agent is frozen and another one started': async () => {
      const frozen = this.#agent;
      frozen.signal('SIGSTOP');
      await this.#strangerIsRefused();
      await this.#startAnother();
      frozen.signal('SIGKILL');
    },
    'the connection is a black hole, and the agent is started again elsewhere': async () => {
      const lost = this.#agent;
      this.proxy.forget();
      await this.#strangerIsRefused();
      await this.#startAnother();
      lost.signal('SIGKILL');
    },
    'the agent comes back from another address': async () => {
      this.proxy.source = `127.0.1.${(this.#moves = (this.#moves % 200) + 1)}`;
      this.proxy.break();
      const isMoved = async () => (await this.#sessionAddresses()) === this.proxy.source;
      await until(isMoved, 'the session is there from the other address', backLimitMs);
    },
    'the server is killed and started again': async () => {
      this.served.program.signal('SIGKILL');
      await this.served.program.exited;
      await this.served.startAgain();
    },
  };

  async round(): Promise<string> {
    if (this.#left.length === 0) this.#left = Object.keys(this.kinds);
    const [kind = ''] = this.#left.splice(this.#random.below(this.#left.length), 1);
    const urls = this.#urls();
    await this.kinds[kind]?.();
    assert.deepEqual(this.#urls(), urls, kind);
    await this.#strangerIsRefused();
    await until(() => this.#isOnline(), `online again after: ${kind}`, backLimitMs);
    return kind;
  }

  #urls(): readonly string[] {
    // The third has no name of its own: another program gets another one.
    return this.#agent.endpoints.slice(0, 2).map(({ url }) => url);
  }

  async #startAnother(): Promise<void> {
    this.#agent = await startAgent(this.served, this.proxy, this.#token, this.#addr);
  }

  async #isOnline(): Promise<boolean> {
    for (const { url } of this.#agent.endpoints) {
      const { hostname, port, protocol } = new URL(url);
      const answer = protocol === 'tcp:' ? this.served.askPort(Number(port)) : this.served.ask(hostname);
      if ((await answer.catch(() => undefined))?.echo?.name !== this.served.upstream.name) return false;
    }
    return true;
  }

  async #sessionAddresses(): Promise<string> {
    const { tunnel_sessions } = await this.served.program.must('GET', '/tunnel_sessions');
    return tunnel_sessions.map(({ ip }: { readonly ip: string }) => ip).join();
  }

  /** An agent of another account asks for all of them. */
  async #strangerIsRefused(): Promise<void> {
    const { agent, answer } = await signIn(this.served.agentPort, this.served.ca, this.#strangersToken);
    assert.equal(answer['Error'], undefined);
    for (const { url } of this.#agent.endpoints) {
      const { hostname, protocol } = new URL(url);
      const refusal =
        protocol === 'tcp:'
          ? await agent.call('bind', { Proto: 'tcp', Opts: { Addr: this.#addr }, Extra: {} })
          : await agent.bind(hostname);
      assert.match(String(refusal['Error']), /is not available.*ERR_NGROK_2009[27]$/s, url);
    }
    agent.socket.destroy();
  }
}

function startAgent(served: Served, proxy: TcpProxy, token: string, addr: string): Promise<LibraryAgent> {
  const listeners = [{ domain: 'mine.localhost' }, { proto: 'tcp', remote_addr: addr }, {}];
  return served.agent(token, listeners, { session: { server_addr: `localhost:${proxy.port}` } });
}

onAnyDatabase('names', (newDatabase) => {
  test(`come back in ${troubles} rounds of trouble, and only to their account`, async (t) => {
    t.diagnostic(`TEST_SEED=${seed}`);
    await using served = await Served.start(await newDatabase());
    await using proxy = await TcpProxy.to(served.agentPort);
    const story = await Story.begin(served, proxy);
    const counts = new Map<string, number>();
    for (let round = 0; round < troubles; round++) {
      const kind = await story.round();
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    for (const [kind, count] of counts) t.diagnostic(`${count} × ${kind}`);
    assert.doesNotMatch(served.program.output, /"level":50/, 'the program logged an error');
  });
});
