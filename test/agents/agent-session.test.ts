import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect } from 'node:tls';

import { AgentIdentity } from '../../src/agents/server/identity.ts';
import { codes, dataFrame, flags } from '../../src/agents/wire/frame.ts';
import { streamTypes, typedStart } from '../../src/agents/wire/stream-types.ts';
import { CidrSet, packCidrs } from '../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { moveClock } from '../support/move-clock.ts';
import { noArrivals, caPem, startListener } from './support/listener.ts';
import { Recorder } from './support/mux-peers.ts';
import { authBody, bindBody, connectAgent, connectTls, TestAgent } from './support/test-agent.ts';

type Message = Readonly<Record<string, unknown>>;

function errorOf(message: Message): string {
  const { Error: error } = message;
  return typeof error === 'string' ? error : 'no error';
}

/** The values with which an agent comes back. */
function knownBy(answer: Message): { readonly clientId: string; readonly cookie: string } {
  const extra = answer['Extra'] as Message;
  return { clientId: String(answer['ClientId']), cookie: String(extra['Cookie']) };
}

suite('before authentication', () => {
  test('an agent that does not sign in is closed with a reason', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { port, host, listener, reached } = await startListener(t, { limits: { authMs: 300 } });
    const agent = await connectAgent(port);
    // The answer shows that the handshake, which is under the limit too, is over.
    await agent.call('srvInfo', {});
    t.mock.timers.tick(300);
    t.mock.timers.reset();
    const end = await agent.ended;
    assert.equal(end.by, 'peer');
    assert.match(end.text, /did not sign in in time.*GATEHOUSE_AGENT_AUTH_SECONDS/);
    await until(() => listener.pending === 0, 'gone');
    assert.deepEqual(host.away, [end.text]);
    assert.deepEqual(reached, [
      { bound: 'agent_auth_seconds', limit: 0.3, code: 20141, refused: 1, source: '127.0.0.1' },
    ]);
  });

  test('a handshake that is never finished is closed', async (t) => {
    const { port, listener, reached } = await startListener(t, { limits: { authMs: 200 } });
    const socket = connectTcp(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'close');
    await until(() => listener.pending === 0, 'gone');
    assert.deepEqual(reached, [
      { bound: 'agent_auth_seconds', limit: 0.2, code: 20141, refused: 1, source: '127.0.0.1' },
    ]);
  });

  test('more bytes than allowed close the connection', async (t) => {
    const { port, reached } = await startListener(t);
    const agent = await connectAgent(port);
    void agent.call('auth', { ...authBody('token-a'), Filler: 'x'.repeat(20_000) }).catch(() => {});
    assert.match((await agent.ended).text, /too many bytes before it signed in.*GATEHOUSE_AGENT_AUTH_KIB/);
    assert.deepEqual(reached, [{ bound: 'agent_auth_kib', limit: 16, code: 20142, refused: 1, source: '127.0.0.1' }]);
  });

  test('a message that needs an account closes the connection', async (t) => {
    const { port, host } = await startListener(t);
    const agent = await connectAgent(port);
    void agent.bind('a.test').catch(() => {});
    assert.equal((await agent.ended).text, 'not authenticated');
    assert.equal(host.requests.length, 0);
  });

  test('SrvInfo is answered', async (t) => {
    const { port } = await startListener(t);
    const agent = await connectAgent(port);
    assert.deepEqual(await agent.call('srvInfo', {}), { Region: 'local' });
  });

  test('a connection above the limit closes the oldest one at once', async (t) => {
    const { port, listener, reached } = await startListener(t, { limits: { pendingConnections: 8 } });
    const [oldest, second] = [await connectTls(port), await connectTls(port)];
    const left = once(oldest, 'close');
    const third = await connectTls(port);
    await left;
    assert.deepEqual([listener.pending, second.destroyed, third.destroyed], [2, false, false]);
    assert.deepEqual(reached, [{ bound: 'agent_pending', limit: 8, code: 20143, refused: 1 }]);
  });

  test('a second authentication closes the connection', async (t) => {
    const { port } = await startListener(t);
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    void agent.auth('token-b').catch(() => {});
    assert.equal((await agent.ended).text, 'authenticated twice');
  });
});

suite('authentication', () => {
  const refusals: readonly (readonly [string, object, RegExp])[] = [
    ['an unknown token', authBody('wrong'), /^The authtoken is not valid.*\n\nERR_NGROK_107$/],
    ['no token', authBody(''), /\n\nERR_NGROK_4018$/],
    ['no version in common', { ...authBody('token-a'), Version: ['1'] }, /\n\nERR_NGROK_20132$/],
    ['a malformed message', { Version: 3 }, /Version must be a list.*\n\nERR_NGROK_109$/],
    ['a fault of ours', authBody('break'), /^Something went wrong on the server.*\n\nERR_NGROK_20133$/],
  ];
  for (const [what, body, text] of refusals) {
    test(`${what} is answered with a text and closed`, async (t) => {
      const { port, host, faults, listener } = await startListener(t);
      const agent = await connectAgent(port);
      assert.match(errorOf(await agent.call('auth', body)), text);
      assert.equal((await agent.ended).text, 'refused');
      assert.equal(host.up.length, 0);
      assert.equal(host.away.length, 1);
      assert.equal(faults.length, what === 'a fault of ours' ? 1 : 0);
      await until(() => listener.pending === 0, 'gone');
    });
  }

  test('a refused source is told its address', async (t) => {
    const { port, host } = await startListener(t);
    host.refusedSources.add('127.0.0.1');
    const agent = await connectAgent(port);
    assert.match(errorOf(await agent.auth('token-a')), /from 127\.0\.0\.1 .*\n\nERR_NGROK_3206$/);
  });

  test('the source is the one that a trusted proxy names', async (t) => {
    const loopback = parseCidr('127.0.0.0/8');
    assert.ok(loopback.ok);
    const trustedProxies = new CidrSet(packCidrs([{ cidr: loopback.cidr, flags: 1 }]));
    const { port, host } = await startListener(t, {
      clientRules: { ...noArrivals, proxyProtocol: true, trustedProxies, headersMs: 5000 },
    });
    const plain = connectTcp(port, '127.0.0.1');
    plain.write('PROXY TCP4 203.0.113.9 127.0.0.1 4711 443\r\n');
    const secured = connect({ socket: plain, servername: 'localhost', ca: caPem });
    await once(secured, 'secureConnect');
    await new TestAgent(secured).auth('token-a');
    assert.equal(host.up[0]?.facts.source.text, '203.0.113.9');
  });

  test('the certificate is chosen by the server name, or by the address without one', async (t) => {
    const asked: (readonly [string | undefined, string])[] = [];
    const { port } = await startListener(t, {
      contextFor: async (name, address) => {
        asked.push([name, address]);
        return undefined;
      },
    });
    for (const servername of ['agents.test', undefined]) {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...(servername && { servername }) });
      await once(socket, 'error');
    }
    assert.deepEqual(asked, [
      [undefined, '127.0.0.1'],
      ['agents.test', '127.0.0.1'],
      [undefined, '127.0.0.1'],
    ]);
  });
});

suite('tunnels', () => {
  test('are bound, patched and unbound, the last one as often as it comes', async (t) => {
    const { port, host } = await startListener(t);
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const bound = await agent.bind('a.test', { opts: { Compression: {} } });
    const id = String(bound['Id']);
    assert.equal(bound['URL'], 'https://a.test');
    assert.deepEqual((bound['Opts'] as Message)['Compression'], {});
    assert.deepEqual(await agent.call('patchTunnelState', { TunnelId: id, Metadata: 'new' }), { Error: '' });
    assert.deepEqual(host.patches, [{ tunnelId: id, metadata: 'new' }]);
    for (let round = 0; round < 3; round++) assert.deepEqual(await agent.call('unbind', { Id: id }), {});
    assert.deepEqual(host.unbound, [id]);
    assert.equal(host.up[0]?.tunnels.size, 0);
  });

  test('a malformed message is refused with its field, and changes nothing', async (t) => {
    const { port, host } = await startListener(t);
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const answer = errorOf(await agent.bind('a.test', { opts: { ProxyProto: 7 } }));
    assert.match(answer, /"Bind".*Opts\.ProxyProto must be a number from 0 to 2.*\n\nERR_NGROK_20130$/);
    assert.equal(host.requests.length, 0);
    assert.equal(host.up[0]?.isOpen, true);
  });

  test('are limited in number, counting those that are being bound', async (t) => {
    const { port, host } = await startListener(t, { limits: { tunnelsPerSession: 2 } });
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const answers = await Promise.all(['a.test', 'b.test', 'c.test'].map((name) => agent.bind(name)));
    assert.equal(answers.filter((answer) => errorOf(answer).endsWith('ERR_NGROK_324')).length, 1);
    assert.equal(host.up[0]?.tunnels.size, 2);
    assert.match(
      errorOf(await agent.call('startTunnelWithLabel', { Labels: { a: 'b' } })),
      /GATEHOUSE_AGENT_MAX_TUNNELS.\n\nERR_NGROK_324$/,
    );
  });

  test('one whose agent left while it was being bound is unbound', async (t) => {
    const { port, host } = await startListener(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    host.beforeBind = () => promise;
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    void agent.bind('a.test').catch(() => {});
    await until(() => host.requests.length === 1, 'asked');
    agent.socket.destroy();
    await until(() => host.ended.length === 1, 'gone');
    resolve();
    await until(() => host.unbound.length === 1, 'unbound');
  });

  test('an agent that opens streams without end is refused stream by stream, and others are served', async (t) => {
    const { port, host } = await startListener(t);
    const [eager, other] = [await connectAgent(port), await connectAgent(port)];
    await eager.auth('token-a');
    await other.auth('token-b');
    const recorders = Array.from({ length: 1000 }, () => {
      const recorder = new Recorder();
      recorder.stream = eager.mux.open(recorder, typedStart(streamTypes.bind, '{"never":"ending'));
      return recorder;
    });
    const refused = ({ fault }: Recorder): boolean => typeof fault === 'object' && fault.code === codes.streamRefused;
    await until(() => recorders.filter(refused).length === 989, 'refused');
    assert.equal((await other.bind('b.test'))['URL'], 'https://b.test');
    assert.equal(host.up[0]?.isOpen, true);
  });

  test('a message that never ends is given up', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { port } = await startListener(t, { limits: { authMs: 1000 } });
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const recorder = new Recorder();
    recorder.stream = agent.mux.open(recorder, typedStart(streamTypes.bind, '{"a":'));
    while (recorder.fault === 'open') {
      await setImmediate();
      t.mock.timers.tick(1000);
    }
    assert.deepEqual(recorder.fault, { code: 6, by: 'peer' });
  });
});

suite('an agent that comes back', () => {
  test('takes its names over at once, with its ids, while the old connection is still open', async (t) => {
    const { port, host } = await startListener(t);
    const first = await connectAgent(port);
    const known = knownBy(await first.auth('token-a'));
    const bound = await first.bind('mine.test');
    const token = String((bound['Extra'] as Message)['Token']);
    const second = await connectAgent(port);
    const again = await second.auth('token-a', known);
    assert.deepEqual(knownBy(again), known);
    const rebound = await second.bind('mine.test', { id: String(bound['Id']), extra: { Token: token } });
    assert.deepEqual([rebound['Id'], rebound['URL']], [bound['Id'], bound['URL']]);
    assert.equal((await first.ended).text, 'the agent has connected again');
    await until(() => host.ended.length === 1, 'the old session is over');
    assert.equal(host.up[1]?.facts.isResumed, true);
    const third = await connectAgent(port);
    await third.auth('token-b');
    assert.match(errorOf(await third.bind('mine.test')), /ERR_NGROK_334$/);
  });

  test('is another one without the right cookie, with another credential, or with a made-up tunnel', async (t) => {
    const { port, host } = await startListener(t);
    const owner = await connectAgent(port);
    const known = knownBy(await owner.auth('token-a'));
    const bound = await owner.bind('mine.test');
    for (const [token, claim] of [
      ['token-a', { ...known, cookie: '' }],
      ['token-a', { ...known, cookie: `${known.cookie}x` }],
      ['token-b', known],
    ] as const) {
      const impostor = await connectAgent(port);
      assert.notEqual(knownBy(await impostor.auth(token, claim)).clientId, known.clientId);
      assert.match(errorOf(await impostor.bind('mine.test')), /ERR_NGROK_334$/);
      const other = await impostor.bind('other.test', { id: String(bound['Id']), extra: { Token: 'x' } });
      assert.notEqual(other['Id'], bound['Id']);
      impostor.mux.close();
      await impostor.ended;
    }
    assert.equal(host.up[0]?.isOpen, true);
  });

  test('is known to a process that never saw it, by the key alone', () => {
    const [one, other] = [new AgentIdentity(Buffer.alloc(32, 1)), new AgentIdentity(Buffer.alloc(32, 1))];
    const cookie = one.cookie('client', 'credential');
    assert.deepEqual(other.recognize('client', cookie, 'credential'), { clientId: 'client', isKnown: true });
    const stranger = new AgentIdentity(Buffer.alloc(32, 2));
    assert.equal(stranger.recognize('client', cookie, 'credential').isKnown, false);
  });
});

suite('signs of life', () => {
  const limits = { heartbeatMs: 500, silenceMs: 2000 };

  test('an agent without any is gone', async (t) => {
    const { port, host, listener } = await startListener(t, { limits });
    const agent = await connectAgent(port, { heartbeats: false });
    await agent.auth('token-a');
    assert.equal((await agent.ended).text, 'no sign of life');
    assert.equal(host.ended[0]?.end.text, 'no sign of life');
    assert.equal(listener.sessions.size, 0);
  });

  test('one that answers heartbeats stays, and gets its own answered', async (t) => {
    const { port, host } = await startListener(t, { limits: { heartbeatMs: 50, silenceMs: 60_000 } });
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const beats = new Recorder();
    beats.stream = agent.mux.open(beats, typedStart(streamTypes.heartbeat));
    beats.stream?.write(Buffer.from('beat'));
    await until(() => beats.text === 'beat', 'the same bytes');
    beats.stream?.write(Buffer.from('be'));
    beats.stream?.write(Buffer.from('at'));
    await until(() => beats.text === 'beatbeat', 'the same bytes again');
    const advance = moveClock(t);
    // Two of these times together are longer than the silence of an agent that is gone.
    for (let time = 0; time < 3; time++) {
      advance(40_000);
      const { bytesWritten } = agent.socket;
      await until(() => agent.socket.bytesWritten > bytesWritten + 100, 'heartbeats are answered');
    }
    assert.equal(host.up[0]?.isOpen, true);
    assert.equal(host.up[0]?.visitors, 0);
  });
});

suite('commands', () => {
  test('are carried out, refused with the reason of the agent, or given up', async (t) => {
    const { port, host } = await startListener(t, { limits: { commandMs: 300 } });
    const answers: Message[] = [{}, { Error: 'not now\n\nERR_NGROK_20134' }];
    const agent = await connectAgent(port, { command: () => answers.shift() ?? {} });
    await agent.auth('token-a');
    const session = host.up[0] ?? assert.fail();
    assert.deepEqual(await session.command('stop'), { outcome: 'done' });
    assert.deepEqual(await session.command('stop'), { outcome: 'unsupported', reason: 'not now' });
    const update = await session.command('update');
    assert.match(update.outcome === 'unsupported' ? update.reason : '', /too old/);
    const silent = await connectAgent(port);
    await silent.auth('token-a');
    assert.deepEqual(await host.up[1]?.command('stop'), { outcome: 'unanswered' });
  });

  test('an agent that leaves at a stop has obeyed', async (t) => {
    const { port, host } = await startListener(t);
    const agent = await connectAgent(port);
    await agent.auth('token-a');
    const stopped = host.up[0]?.command('stop');
    agent.mux.close();
    assert.deepEqual(await stopped, { outcome: 'done' });
  });
});

suite('visitors', () => {
  const visitor = { clientAddr: '203.0.113.1:5', proto: 'tcp', edgeType: 'undefined', passthroughTls: false } as const;

  test('reach the agent with the header and their first bytes in one frame, and are answered', async (t) => {
    const { port, host } = await startListener(t);
    const recorder = new Recorder();
    const agent = await connectAgent(port, {
      visitor: (stream) => {
        recorder.stream = stream;
        return recorder;
      },
    });
    await agent.auth('token-a');
    const { Id: id } = await agent.bind('a.test');
    const reply = new Recorder();
    reply.stream = host.up[0]?.tunnels.get(String(id))?.open(visitor, reply, Buffer.from('first'));
    await until(() => recorder.pieces.length > 0, 'the stream');
    assert.match(recorder.pieces[0]?.toString() ?? '', /"ClientAddr":"203\.0\.113\.1:5".*\}first$/);
    recorder.stream?.end(Buffer.from('answer'));
    await until(() => reply.hasEnded, 'the answer');
    assert.equal(reply.text, 'answer');
    assert.equal(host.up[0]?.visitors, 1);
  });

  for (const heartbeat of ['before the first heartbeat', 'after a heartbeat']) {
    test(`get no stream above the limit, while draining, or after the end: ${heartbeat}`, async (t) => {
      const streamsPerSession = { rust: 14, other: 14 };
      const { port, host } = await startListener(t, { limits: { streamsPerSession } });
      const agent = await connectAgent(port);
      await agent.auth('token-a');
      const { Id: id } = await agent.bind('a.test');
      const session = host.up[0] ?? assert.fail();
      if (heartbeat === 'after a heartbeat') assert.equal(await session.givesSignOfLife(10_000), true);
      const open = (): Recorder => {
        const recorder = new Recorder();
        recorder.stream = session.tunnels.get(String(id))?.open(visitor, recorder);
        return recorder;
      };
      const [first, second] = [open(), open()];
      assert.ok(first.stream !== undefined && second.stream !== undefined);
      assert.equal(open().stream, undefined);
      second.stream.reset();
      const drained = session.drain(10_000);
      assert.equal(open().stream, undefined);
      assert.equal(session.isOpen, true);
      first.stream.reset();
      await drained;
      assert.equal((await agent.ended).text, 'the server is going down');
      assert.equal(open().stream, undefined);
    });
  }
});

test('a session that breaks a rule of frames is closed, and the others stay', async (t) => {
  const { port, host } = await startListener(t);
  const [bad, good] = [await connectTls(port), await connectAgent(port)];
  await good.auth('token-a');
  bad.write(Buffer.concat([...dataFrame(2, flags.syn, Buffer.from('x'))]));
  bad.resume();
  await once(bad, 'close');
  await until(() => host.away.length === 1, 'closed');
  assert.deepEqual(host.away, ['stream id of the other side']);
  assert.equal((await good.call('bind', bindBody('a.test')))['URL'], 'https://a.test');
});
