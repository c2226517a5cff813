import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startAgents, tunnelBackend } from './support/agents.ts';
import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, responseHeaders, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startRawUpstream, startUpstream } from './support/https-upstream.ts';

const secret = 'Secret'.padEnd(43, 'x');
/** Lines of one request, and the Cookie headers of which the upstream is told. */
const sent: readonly (readonly [lines: readonly string[], seen: readonly string[]])[] = [
  [[`Cookie: gatehouse_session=${secret}`], []],
  [[`cOOKIE: __Host-gatehouse_session=${secret}`], []],
  [[`Cookie: a=1; gatehouse_session=${secret}; b=2`], ['a=1; b=2']],
  [[`Cookie: gatehouse_session=${secret};b=2`], ['b=2']],
  [[`Cookie: a=1;__Host-gatehouse_session=${secret}`], ['a=1']],
  [[`Cookie: a=1;__Host-gatehouse_session_login=${secret}; gatehouse_session_login=x`], ['a=1']],
  [
    [`Cookie: a=1`, `Cookie: gatehouse_session=${secret}`, `Cookie: b=2`],
    ['a=1', 'b=2'],
  ],
  [[`Cookie: a="; gatehouse_session=${secret}; b="`], ['a="; b="']],
  [[`Cookie: a=1;\t gatehouse_session = "${secret}" ;; b=2`], ['a=1;; b=2']],
  [[`Cookie: __host-GATEHOUSE_session=${secret}; "gatehouse_session"=${secret}; =gatehouse_session=${secret}`], []],
  [[`Cookie: \xa0gatehouse_session=${secret}; a=1`], ['a=1']],
  [['Cookie: my_gatehouse_session=1; gatehouse_session_id=2'], ['my_gatehouse_session=1; gatehouse_session_id=2']],
  [['Cookie: a=gatehouse_session'], ['a=gatehouse_session']],
  [['Cookie: a=1;b="x;y" ;c'], ['a=1;b="x;y" ;c']],
];
const planted = [
  'gatehouse_session=x; Path=/',
  '__Host-gatehouse_session=x; Path=/; Secure',
  '\tGATEHOUSE_SESSION =x',
  '=gatehouse_session=x',
  '"gatehouse_session"=x',
  'gatehouse_session',
  'gatehouse_session;Path=/',
];
const harmless = ['a=1', 'gatehouse_session_id=2; Path=/', 'b=gatehouse_session=x'];
const setLines = [...planted, ...harmless].map((value) => `Set-Cookie: ${value}\r\n`).join('');
const ok = `HTTP/1.1 200 OK\r\n${setLines}Content-Length: 2\r\n\r\nok`;

function edge(modules = {}) {
  return edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...modules })]);
}

test('the cookie of a dashboard session does not reach an upstream, however it is written, and others do as they are', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge()]);
  for (const [lines, seen] of sent) {
    assert.equal((await sendRaw(gateway.port, get('/', ...lines))).status, 200);
    const headers = upstream.seen.at(-1)?.headers ?? [];
    assert.deepEqual(headerValues(headers, 'cookie'), seen, lines.join());
    assert.ok(!headers.join().includes(secret));
  }
});

test('nor over HTTP/2, in one header or in crumbs', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge()]);
  const session = openHttp2(gateway.port);
  for (const [cookie, seen] of [
    [`a=1; gatehouse_session=${secret}`, ['a=1']],
    [['a=1', `__Host-gatehouse_session=${secret}`, 'b=2'], ['a=1; b=2']],
    [['a="', `gatehouse_session=${secret}`, '"'], ['a="; "']],
    [[`gatehouse_session=${secret}`], []],
  ] as const) {
    const value = typeof cookie === 'string' ? cookie : [...cookie];
    assert.equal((await requestHttp2(session, { ':path': '/', cookie: value })).status, 200);
    assert.deepEqual(headerValues(upstream.seen.at(-1)?.headers ?? [], 'cookie'), seen);
  }
  session.close();
});

test('nor with an upgrade, nor through an agent, whose answers set it as little', async (t) => {
  await using upstream = await startRawUpstream((socket, received) => {
    const upgrade = `HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n${setLines}\r\n`;
    if (received.includes('Upgrade: echo/1')) socket.end(upgrade);
    else socket.write(ok);
  });
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  const entries = [
    backendEntry('b', upstream.port),
    edge(responseHeaders({ 'set-cookie': 'gatehouse_session=y' }, [])),
    tunnelBackend('ep_1', [agent]),
    edgeEntry('ep_1', ['agent.test'], [prefixRoute('/', toBackend('ep_1'))]),
  ];
  await using gateway = await startGateway(entries, { dialer: agents.dialer });
  for (const host of ['app.test', 'agent.test'])
    for (const more of [[], ['Connection: Upgrade', 'Upgrade: echo/1']]) {
      const socket = await connectClient(gateway.port, { servername: host });
      const lines = [`GET / HTTP/1.1`, `Host: ${host}`, `Cookie: a=1; __Host-gatehouse_session=${secret}`, ...more];
      if (more.length === 0) lines.push('Connection: close');
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      const answer = parseAnswer(await readAll(socket));
      assert.equal(answer.status, more.length === 0 ? 200 : 101);
      assert.equal(answer.headers['set-cookie'], harmless.join(','), `${host} ${more.join()}`);
    }
  assert.equal(upstream.received.match(/Cookie: a=1\r\n/g)?.length, 4);
  assert.ok(!upstream.received.includes(secret));
});

test('no upstream and no rule sets it, in an interim answer or the final one, over HTTP/1.1 and HTTP/2', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\n${setLines}\r\n${ok}`);
  });
  const rule = responseHeaders({ 'Set-Cookie': '__Host-gatehouse_session=y; Secure' }, []);
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge(rule)]);
  const { text } = await sendRaw(gateway.port, get('/'));
  const lines = text.split('\r\n').filter((line) => /^set-cookie:/i.test(line));
  const kept = harmless.map((value) => `Set-Cookie: ${value}`);
  assert.deepEqual(lines, [...kept, ...kept]);
  const session = openHttp2(gateway.port);
  const { headers } = await requestHttp2(session, { ':path': '/' });
  session.close();
  assert.deepEqual(headers['set-cookie'], harmless);
});
