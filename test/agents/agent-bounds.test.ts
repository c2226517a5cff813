import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { suitesOf } from '../support/tls-suites.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { startListener } from './support/listener.ts';
import { Recorder } from './support/mux-peers.ts';
import { newToken, onServed } from './support/served-agents.ts';
import { signIn } from './support/sign-in.ts';
import { connectAgent } from './support/test-agent.ts';

/** What agents and their visitors may have: each a setting, with an error that names it and a metric. */

test('the visitor that leaves most bytes unread is cut off, and the bound is told of', async (t) => {
  const { port, host, reached } = await startListener(t, { limits: { unreadBytes: 300_000 } });
  const piece = Buffer.alloc(200_000);
  const agent = await connectAgent(port, {
    visitor: (stream) => {
      stream.write(piece);
      return { onBytes: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: () => {} };
    },
  });
  await agent.auth('token-a');
  await agent.bind('slow.test');
  const [session = assert.fail()] = host.up;
  const [tunnel = assert.fail()] = [...session.tunnels.values()];
  const header = { clientAddr: '192.0.2.1:1', proto: 'https', edgeType: 'https', passthroughTls: false } as const;
  const visitors = [new Recorder(), new Recorder()];
  for (const visitor of visitors) {
    visitor.isSlow = true;
    tunnel.open(header, visitor);
  }
  await until(() => reached.length > 0, 'the bound is reached');
  assert.deepEqual(
    reached.map((fields) => ({ ...fields, limit: 0 })),
    [{ bound: 'agent_unread_mib', limit: 0, code: 20144, refused: 1, session: session.id }],
  );
  assert.ok(session.isOpen);
});

test('silent connections of one source are closed for newer ones, and agents of every source are let in', async (t) => {
  const { port, listener, reached } = await startListener(t, { limits: { pendingConnections: 40 } });
  const dial = async (from: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {});
    t.after(() => socket.destroy());
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    return { socket, closed };
  };
  // The share of one source is ten.
  const others = await Promise.all(Array.from({ length: 5 }, () => dial('127.0.0.3')));
  const silent: Awaited<ReturnType<typeof dial>>[] = [];
  for (let at = 0; at < 60; at++) silent.push(await dial('127.0.0.2'));
  await Promise.all(silent.slice(0, 50).map(({ closed }) => closed));
  await until(
    () => listener.pending === 15,
    () => `${listener.pending} wait`,
  );
  assert.ok([...others, ...silent.slice(50)].every(({ socket }) => !socket.destroyed));
  assert.equal(reached.length, 1);
  // From the flooded address itself, and while the flood goes on.
  for (let at = 0; at < 12; at++) {
    const agent = await connectAgent(port, {}, '127.0.0.2');
    void dial('127.0.0.2');
    assert.equal((await agent.auth('token-a'))['Error'], undefined);
  }
  // From many addresses, the one with most makes room.
  for (let at = 10; at < 50; at++) await dial(`127.0.0.${at}`);
  await until(
    () => listener.pending === 40,
    () => `${listener.pending} wait`,
  );
  assert.equal((await (await connectAgent(port, {})).auth('token-a'))['Error'], undefined);
});

onEachDatabase('sessions of one credential', (newDatabase) => {
  test('are bounded also where agents sign in at once, at several processes', async () => {
    const database = await newDatabase();
    const settings = {
      agentListen: '127.0.0.1:0',
      httpsListen: '127.0.0.1:0',
      agentMaxSessions: '3',
      drainSeconds: '0',
    };
    await using one = await Gatehouse.start(database, settings);
    await using two = await Gatehouse.start(database, settings);
    const token = await newToken(one);
    const agents = await Promise.all(
      Array.from({ length: 24 }, (_, at) => {
        const { app } = at % 2 === 0 ? one : two;
        return signIn(app.agents?.port ?? 0, app.engine?.caCertificatePem ?? '', token);
      }),
    );
    const refused = agents.filter(({ answer }) => String(answer['Error']).includes('GATEHOUSE_AGENT_MAX_SESSIONS'));
    assert.equal(refused.length, 21, JSON.stringify(agents.map(({ answer }) => answer['Error'])));
    const [row] = await one.app.context.store.queries.all('SELECT COUNT(*) FROM tunnel_sessions');
    assert.equal(Number(row?.[0]), 3);
    for (const { agent } of refused) if (!agent.socket.destroyed) await once(agent.socket, 'close');
    for (const { agent } of agents) agent.socket.destroy();
  });
});

onServed(
  'bounds of agents',
  (served) => {
    async function samples(): Promise<string> {
      return (await fetch(`http://127.0.0.1:${served().gatehouse.app.metricsPort}/metrics`)).text();
    }

    async function shows(...lines: readonly string[]): Promise<void> {
      let text = '';
      const isShown = async () => {
        text = await samples();
        return lines.every((line) => text.includes(`\n${line}\n`));
      };
      const found = () => text.split('\n').filter((line) => line.startsWith('gatehouse_bound'));
      await until(isShown, () => `${lines.join(', ')} in ${found().join('\n')}`);
    }

    test('TLS 1.2 is spoken with authenticated suites only', async () => {
      const { port, ca } = served();
      assert.deepEqual(await suitesOf({ port, ca, servername: 'localhost' }), ['ECDHE-ECDSA-AES128-GCM-SHA256']);
    });

    test('every bound is shown with its limit', async () => {
      await shows(
        'gatehouse_bound_limit{bound="agent_max_sessions"} 2',
        'gatehouse_bound_limit{bound="agent_max_tunnels"} 2',
        'gatehouse_bound_limit{bound="agent_max_streams"} 16',
        'gatehouse_bound_limit{bound="agent_rust_streams"} 14',
        'gatehouse_bound_limit{bound="agent_unread_mib"} 3',
        'gatehouse_bound_limit{bound="agent_auth_seconds"} 7',
        'gatehouse_bound_limit{bound="agent_auth_kib"} 9',
        'gatehouse_bound_limit{bound="agent_pending"} 50',
        'gatehouse_bound_limit{bound="agent_waiting"} 1000',
      );
    });

    test('sessions of a credential and tunnels of a session', async () => {
      const { gatehouse, agent, port, ca } = served();
      const token = await newToken(gatehouse);
      const { agent: one } = await agent(token);
      await agent(token);
      const { agent: refused, answer } = await signIn(port, ca, token);
      assert.match(String(answer['Error']), /GATEHOUSE_AGENT_MAX_SESSIONS/);
      refused.socket.destroy();
      await one.bind('');
      await one.bind('');
      assert.match(String((await one.bind(''))['Error']), /GATEHOUSE_AGENT_MAX_TUNNELS/);
      await shows(
        'gatehouse_bound_in_use{bound="agent_max_sessions"} 2',
        'gatehouse_bound_refusals_total{bound="agent_max_sessions"} 1',
        'gatehouse_bound_in_use{bound="agent_max_tunnels"} 2',
        'gatehouse_bound_refusals_total{bound="agent_max_tunnels"} 1',
      );
    });

    for (const [family, bound, places] of [
      ['other', 'agent_max_streams', 4],
      ['rust', 'agent_rust_streams', 2],
    ] as const) {
      test(`connections of visitors through one session of an agent of the ${family} family`, async (t) => {
        const { gatehouse, agent, library } = served();
        const token = await newToken(gatehouse);
        const open = async () => {
          if (family === 'rust') return (await (await library(token)).tcpEndpoint().listen(false)).url();
          const { agent: one } = await agent(token);
          const { URL: url } = await one.call('bind', { Id: '', Proto: 'tcp', ForwardsTo: 'x', Opts: {}, Extra: {} });
          return String(url);
        };
        const port = Number(new URL((await open()) ?? '').port);
        const dial = () => {
          const socket = connect(port, '127.0.0.1').on('error', () => {});
          t.after(() => socket.destroy());
          return new Promise((resolve) => socket.on('close', resolve));
        };
        const isShown = (pattern: string) => async () => new RegExp(pattern).test(await samples());
        for (let at = 0; at < places; at++) void dial();
        // Twelve are kept free: for the agent's own, and for the heartbeat.
        await until(isShown(`in_use{bound="${bound}"} ${places + 12}\n`), `${places} visitors`);
        await Promise.race([dial(), dial(), dial(), dial()]);
        await until(isShown(`refusals_total{bound="${bound}"} [1-9]`), 'refusals');
        const line = () => gatehouse.logLines.find((each) => each.includes(`"bound":"${bound}"`));
        await until(() => line() !== undefined, 'the refusal is logged');
        assert.match(line() ?? '', /"code":20150.*GATEHOUSE_AGENT_MAX_STREAMS/);
      });
    }
  },
  {
    tcpPorts: '17500-17599',
    metricsListen: '127.0.0.1:0',
    agentMaxSessions: '2',
    agentMaxTunnels: '2',
    agentMaxStreams: '16',
    agentRustStreams: '14',
    agentUnreadMib: '3',
    agentAuthSeconds: '7',
    agentAuthKib: '9',
    agentPending: '50',
  },
);
