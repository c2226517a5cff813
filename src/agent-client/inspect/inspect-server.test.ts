import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, Server } from 'node:http';
import { after, before, test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { portOf } from '../../../test/gateway/support/https-upstream.ts';
import { parseTarget } from '../target.ts';
import { HttpWatch } from '../watch/http-watch.ts';
import { createInspectServer } from './inspect-server.ts';
import { parseInspect } from './open-inspection.ts';
import { RecentExchanges } from './recent-exchanges.ts';
import { Replays } from './replay.ts';

/** The local page of an agent, before a program that keeps what it is sent. */

interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const recent = new RecentExchanges();
const got: Got[] = [];
let target: Server;
let page: Server;
let port = 0;

before(async () => {
  target = createServer((asked, response) => {
    let body = '';
    asked.on('data', (piece) => (body += String(piece)));
    asked.on('end', () => {
      got.push({ method: asked.method ?? '', url: asked.url ?? '', headers: asked.headers, body });
      if (asked.url === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
      else response.end('from the program');
    });
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const at = parseTarget('http', `127.0.0.1:${portOf(target)}`);
  const replays = new Replays(recent, { target: at, insecure: false, proxyProtocol: 0, dialMs: 5000 });
  page = createInspectServer({ recent, replays, target: at.url, address: () => 'https://a.test' }).listen(
    0,
    '127.0.0.1',
  );
  await once(page, 'listening');
  port = portOf(page);
});
after(() => {
  target.close();
  page.close();
});

interface Asking {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

function ask(path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (piece) => (text += String(piece)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    asked.on('error', reject).end(body);
  });
}

/** Records a request of a visitor, answered by 200. Returns its id. */
function pass(head: string, body = '', answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'): string {
  const watch = new HttpWatch(() => {}, recent.recorder({ visitor: '192.0.2.1:1234', replayOf: undefined }));
  watch.fromVisitor(Buffer.from(`${head}\r\n\r\n${body}`, 'latin1'));
  watch.fromTarget(Buffer.from(answer, 'latin1'));
  return recent.all[0]?.id ?? assert.fail('nothing was recorded');
}

const posted = (path: string, body: string, more = ''): string =>
  pass(`POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${Buffer.byteLength(body)}${more}`, body);

async function csrf(): Promise<string> {
  const { text } = await ask('/');
  return /name="csrf" value="([0-9a-f]+)"/.exec(text)?.[1] ?? assert.fail(text);
}

async function submit(path: string, fields: Readonly<Record<string, string>>): Promise<Answered> {
  const body = new URLSearchParams({ csrf: await csrf(), ...fields }).toString();
  return ask(path, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
}

test('only this machine, by its own name, reads anything', async () => {
  pass('GET /secret-path HTTP/1.1\r\nHost: a');
  for (const host of [
    'evil.test',
    `evil.test:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:${port}.evil.test`,
  ]) {
    for (const path of ['/', '/api/requests/http', '/script.js']) {
      const { status, text } = await ask(path, { headers: { host } });
      assert.deepEqual([status, text.includes('secret-path')], [403, false], `${host} ${path}`);
    }
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`])
    assert.equal((await ask('/', { headers: { host } })).status, 200, host);
});

test('a page of another site replays nothing, forgets nothing and reads nothing', async () => {
  const id = pass('GET /mine HTTP/1.1\r\nHost: a');
  const known = got.length;
  const json = { 'content-type': 'application/json' };
  const foreign: readonly (readonly [string, Asking])[] = [
    [
      '/api/requests/http',
      { method: 'POST', body: JSON.stringify({ id }), headers: { ...json, origin: 'https://evil.test' } },
    ],
    ['/api/requests/http', { method: 'POST', body: JSON.stringify({ id }), headers: { ...json, origin: 'null' } }],
    [
      '/api/requests/http',
      { method: 'POST', body: JSON.stringify({ id }), headers: { ...json, 'sec-fetch-site': 'cross-site' } },
    ],
    ['/api/requests/http', { method: 'POST', body: JSON.stringify({ id }), headers: { 'content-type': 'text/plain' } }],
    ['/api/requests/http', { method: 'DELETE', headers: { origin: 'https://evil.test' } }],
    ['/api/requests/http', { headers: { origin: 'https://evil.test' } }],
    ['/api/requests/http', { headers: { 'sec-fetch-site': 'same-site' } }],
    [`/requests/${id}/replay`, { method: 'POST', body: '' }],
    [`/requests/${id}/replay`, { method: 'POST', body: 'csrf=0' }],
    [
      `/requests/${id}/replay`,
      { method: 'POST', body: `csrf=${await csrf()}`, headers: { origin: 'http://localhost:1' } },
    ],
    ['/clear', { method: 'POST', body: 'csrf=' }],
    ['/clear', { method: 'GET' }],
  ];
  for (const [path, asking] of foreign) {
    const { status, headers, text } = await ask(path, asking);
    assert.ok([403, 404, 415].includes(status), `${path} ${JSON.stringify(asking)}: ${status}`);
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.ok(!text.includes('/mine'));
  }
  assert.equal(got.length, known);
  assert.ok(recent.find(id) !== undefined);
});

test('what strangers send is text, wherever it is shown, and no page runs a script of its own', async () => {
  const attack = '<img/src=x/onerror=alert(1)>"\'&';
  const id = pass(
    `GET /${attack.replaceAll(' ', '')} HTTP/1.1\r\nHost: a\r\nX-A: ${attack}`,
    '',
    `HTTP/1.1 200 ${attack}\r\nX-B: </dd><script>alert(1)</script>\r\nContent-Type: text/html\r\nContent-Length: 25\r\n\r\n<script>alert(1)</script>`,
  );
  for (const path of ['/', `/requests/${id}`, `/requests/${id}?edit=1`, `/?find=${encodeURIComponent('"><script>')}`]) {
    const { text, headers } = await ask(path);
    assert.ok(!/<(?:img|script>)/.test(text), `${path}: ${text}`);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
    );
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
  assert.match((await ask(`/requests/${id}`)).text, /&#60;script&#62;alert\(1\)&#60;\/script&#62;/);
});

test('secrets are masked in pages and in the API, and a replay has them as they came', async () => {
  const body = JSON.stringify({ event: 'paid', card_number: '4111222233334444' });
  const id = posted(
    '/hooks?token=hunter2-query',
    body,
    '\r\nAuthorization: Bearer hunter2-bearer\r\nX-Signature: hunter2-sig\r\nX-Two: a\r\nX-Two: b',
  );
  const { text: api } = await ask(`/api/requests/http/${id}`);
  const raw = Buffer.from(JSON.parse(api).request.raw, 'base64').toString();
  const { text: list } = await ask('/api/requests/http');
  for (const shown of [
    (await ask('/')).text,
    (await ask(`/requests/${id}`)).text,
    (await ask(`/requests/${id}?edit=1`)).text,
    api,
    raw,
    list,
  ])
    assert.ok(!/hunter2|4111222233334444/.test(shown), shown);
  assert.match(
    raw,
    /^POST \/hooks\?token=\[masked\] HTTP\/1\.1\r\n[^]*\r\n\r\n\{"event":"paid","card_number":"\[masked\]"\}$/,
  );
  const { status, headers } = await submit(`/requests/${id}/replay`, {});
  assert.equal(status, 303);
  const sent = got.at(-1);
  assert.deepEqual([sent?.method, sent?.url, sent?.body], ['POST', '/hooks?token=hunter2-query', body]);
  const { authorization, 'x-signature': signature, 'x-two': two, host, 'gatehouse-replay': mark } = sent?.headers ?? {};
  assert.deepEqual(
    [authorization, signature, two, host, mark],
    ['Bearer hunter2-bearer', 'hunter2-sig', 'a, b', 'a.test', id],
  );
  const replay = await ask(String(headers.location));
  assert.match(replay.text, /<span class="badge">Replay<\/span>/);
  assert.match(replay.text, /from the program/);
});

test('a changed request has what was typed, and what stands as it was shown goes as it came', async () => {
  const id = posted(
    '/a?token=hunter2',
    '{"password":"hunter2","n":1}',
    '\r\nAuthorization: Bearer hunter2\r\nX-A: 1\r\nCookie: sid=hunter2',
  );
  const { text } = await ask(`/requests/${id}?edit=1`);
  const shown = /name="headers"[^>]*>\n([^<]*)</.exec(text)?.[1]?.replaceAll('&#39;', "'") ?? assert.fail(text);
  const headers = shown.replace('X-A: 1', 'X-A: 2\nX-New: typed').replaceAll('\n', '\r\n');
  const shownTarget = /name="target" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const { headers: answer } = await submit(`/requests/${id}/replay`, {
    edited: '1',
    method: 'PUT',
    target: shownTarget,
    headers,
    body: '{"password":"[masked]","n":2}',
  });
  const sent = got.at(-1);
  assert.deepEqual([sent?.method, sent?.url, sent?.body], ['PUT', '/a?token=hunter2', '{"password":"[masked]","n":2}']);
  const { authorization, 'x-a': first, 'x-new': second, cookie, 'content-length': length } = sent?.headers ?? {};
  assert.deepEqual(
    [authorization, first, second, cookie, length],
    ['Bearer hunter2', '2', 'typed', 'sid=hunter2', '29'],
  );
  assert.match((await ask(String(answer.location))).text, /Replay, edited/);
});

test('a changed request cannot smuggle another one, nor a line into its head', async () => {
  const id = pass('GET /a HTTP/1.1\r\nHost: a');
  const known = got.length;
  const changes: readonly Readonly<Record<string, unknown>>[] = [
    { method: 'GET /x HTTP/1.1\r\nA: b' },
    { uri: '/a HTTP/1.1\r\nA: b' },
    { uri: '' },
    { headers: { 'a\r\nb': ['c'] } },
    { headers: { a: ['b\r\n\r\nGET /y HTTP/1.1'] } },
    { headers: { a: [1] } },
    { headers: 'a: b' },
    { body: 1 },
    { method: 'CONNECT' },
  ];
  for (const change of changes) {
    const body = JSON.stringify({ id, ...change });
    const { status, text } = await ask('/api/requests/http', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual([status, JSON.parse(text).status_code], [409, 409], `${body}: ${text}`);
  }
  assert.equal(got.length, known);
  const framing = {
    'Content-Length': ['100'],
    'Transfer-Encoding': ['chunked'],
    Expect: ['100-continue'],
    Connection: ['upgrade'],
    Upgrade: ['h2c'],
    'Gatehouse-Replay': ['x'],
  };
  const body = JSON.stringify({ id, method: 'POST', headers: framing, body: 'abc' });
  assert.equal(
    (await ask('/api/requests/http', { method: 'POST', body, headers: { 'content-type': 'application/json' } })).status,
    204,
  );
  const { headers, body: sent } = got.at(-1) ?? assert.fail();
  assert.deepEqual(
    [
      headers['content-length'],
      headers['transfer-encoding'],
      headers['expect'],
      headers['upgrade'],
      headers['gatehouse-replay'],
      sent,
    ],
    ['3', undefined, undefined, undefined, id, 'abc'],
  );
});

test('redirects are recorded, not followed; what was not kept whole is not sent again', async () => {
  const redirected = pass('GET /redirect HTTP/1.1\r\nHost: a');
  await submit(`/requests/${redirected}/replay`, {});
  assert.equal(recent.all[0]?.report?.status, 302);
  const long = posted('/long', 'x'.repeat(70_000));
  const refused = await submit(`/requests/${long}/replay`, {});
  assert.equal(refused.status, 409);
  assert.match(
    refused.text,
    /role="alert"[^>]*>The body of this request was not kept whole: 70000 bytes came, and 65536 are kept/,
  );
  const cut = pass('POST /cut HTTP/1.1\r\nHost: a\r\nContent-Length: 10', 'half');
  assert.equal((await submit(`/requests/${cut}/replay`, {})).status, 409);
  const upgraded = pass(
    'GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade',
    '',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n',
  );
  assert.match((await submit(`/requests/${upgraded}/replay`, {})).text, /went over to another protocol/);
  assert.match((await ask('/')).text, /<span class="badge">WebSocket<\/span>/);
});

test('a program that is not there, and one that does not end, are said', async () => {
  const gone = new Replays(recent, {
    target: parseTarget('http', '127.0.0.1:1'),
    insecure: false,
    proxyProtocol: 0,
    dialMs: 5000,
  });
  const id = pass('GET /a HTTP/1.1\r\nHost: a');
  const original = recent.find(id) ?? assert.fail();
  await assert.rejects(gone.send(original, {}), /http:\/\/127\.0\.0\.1:1 cannot be reached: nothing listens there/);
  assert.deepEqual([recent.all[0]?.replayOf?.id, recent.all[0]?.report?.isWhole], [id, false]);
});

test('the PROXY header that the program expects goes before a replay', async () => {
  const heard: string[] = [];
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.removeAllListeners('connection').on('connection', (socket) => {
    socket.on('data', (piece: Buffer) => {
      heard.push(String(piece));
      if (heard.join('').includes('\r\n\r\n')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  const at = parseTarget('http', `127.0.0.1:${portOf(server)}`);
  const replays = new Replays(recent, { target: at, insecure: false, proxyProtocol: 1, dialMs: 5000 });
  const original = recent.find(pass('GET /a HTTP/1.1\r\nHost: a')) ?? assert.fail();
  const sent = await replays.send(original, {});
  assert.equal(sent.report?.status, 204);
  assert.match(heard.join(''), /^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 0 0\r\nGET \/a HTTP\/1\.1\r\n/);
  server.close();
});

test('the API has the fields that programs know, and limits what it returns', async () => {
  posted('/one', 'a=b');
  posted('/two', 'a=b');
  const { requests, uri } = JSON.parse((await ask('/api/requests/http?limit=1')).text);
  assert.deepEqual([uri, requests.length, requests[0].request.uri], ['/api/requests/http', 1, '/two']);
  const [{ id, tunnel_name, remote_addr, start, duration, request: asked, response }] = requests;
  assert.deepEqual(
    [requests[0].uri, tunnel_name, remote_addr],
    [`/api/requests/http/${id}`, 'command_line', '192.0.2.1:1234'],
  );
  assert.ok(!Number.isNaN(Date.parse(start)) && Number.isInteger(duration));
  assert.deepEqual([asked.method, asked.proto, asked.headers.Host], ['POST', 'HTTP/1.1', ['a.test']]);
  assert.deepEqual([response.status, response.status_code, response.proto], ['200 OK', 200, 'HTTP/1.1']);
  const { tunnels } = JSON.parse((await ask('/api/tunnels')).text);
  assert.deepEqual([tunnels[0].public_url, tunnels[0].proto], ['https://a.test', 'https']);
  for (const path of ['/api/', '/api/requests/http/none', '/requests/none', '/none'])
    assert.equal((await ask(path)).status, 404, path);
  assert.equal((await ask('/api/requests/http', { method: 'DELETE' })).status, 204);
  assert.deepEqual(JSON.parse((await ask('/api/requests/http')).text).requests, []);
  assert.match((await ask('/')).text, /No request yet\. Send one: <code>curl https:\/\/a\.test<\/code>/);
});

test('what a visitor has nested deep or repeated often makes no page that is many times as long', async () => {
  const deep = '['.repeat(3000) + ']'.repeat(3000);
  const answer = `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(1000)}Content-Length: 2\r\n\r\nok`;
  const id = pass(`POST /deep HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${deep.length}`, deep, answer);
  const { text } = await ask(`/requests/${id}`);
  assert.ok(text.includes(deep) && text.length < 100_000, String(text.length));
  const { response } = JSON.parse((await ask(`/api/requests/http/${id}`)).text);
  assert.deepEqual(
    response.headers.A,
    Array.from({ length: 1000 }, () => 'b'),
  );
  const shallow = posted('/shallow', '{"a":[1]}');
  assert.match((await ask(`/requests/${shallow}`)).text, /\{\n {2}&#34;a&#34;: \[\n {4}1\n/);
});

test('visitors do not wait while the targets of a list are masked, which each is once', async (t) => {
  const long = `/?${Array.from({ length: 400 }, (_, at) => `p${at}=1`).join('&')}`;
  for (let at = 0; at < 100; at++) pass(`GET ${long}&n=${at} HTTP/1.1\r\nHost: a`);
  const masked = t.mock.method(String.prototype, 'split');
  await ask('/?find=%26');
  const first = masked.mock.calls.filter(({ arguments: [by] }) => typeof by === 'string' && by === '&').length;
  await ask('/');
  const both = masked.mock.calls.filter(({ arguments: [by] }) => typeof by === 'string' && by === '&').length;
  assert.ok(first >= 100, String(first));
  assert.equal(both - first, 0, 'of the second list');
});

test('a form that is too long is refused', async () => {
  const { status } = await ask('/api/requests/http', {
    method: 'POST',
    body: 'x'.repeat(600_000),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(status, 413);
  await until(() => page.listening, 'still there');
});

test('only addresses of this machine are listened on', () => {
  for (const [text, host, at] of [
    ['4040', '127.0.0.1', 4040],
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['[::1]:5000', '::1', 5000],
    ['localhost:1', 'localhost', 1],
  ] as const)
    assert.deepEqual(parseInspect(text), { host, port: at });
  assert.deepEqual([parseInspect('off'), parseInspect(undefined)], ['off', undefined]);
  for (const text of [
    '0.0.0.0:4040',
    '[::]:4040',
    'a.test:4040',
    '10.0.0.1:1',
    '65536',
    '127.0.0.1',
    'on',
    '127.0.0.1.evil.test:1',
    '',
  ])
    assert.throws(() => parseInspect(text), { name: 'UsageFault', message: /no address of this machine alone/ }, text);
});
