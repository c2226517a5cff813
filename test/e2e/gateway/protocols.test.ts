import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { WebSocket, WebSocketServer } from 'ws';
import type { ClientOptions } from 'ws';

import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const run = promisify(execFile);
let site: Site;
before(async () => {
  site = await Site.start({ drainSeconds: '0' });
});
after(() => site[Symbol.asyncDispose]());

function openHttp2(): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${site.httpsPort}`, {
    servername: siteHost,
    rejectUnauthorized: false,
  });
  session.on('error', () => {});
  return session;
}

interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number | undefined };
  readonly text: string;
}

async function askHttp2(session: ClientHttp2Session, path = '/'): Promise<Http2Answer> {
  const stream = session.request({ ':path': path, ':authority': siteHost });
  let [text, headers]: [string, Http2Answer['headers']] = ['', {}];
  stream.on('response', (head) => (headers = head)).on('data', (chunk) => (text += String(chunk)));
  await once(stream, 'close');
  return { headers, text };
}

/** Routes a path of the site to another upstream; returns the API path of the route. */
async function route(path: string, upstreamPort: number, modules: object = {}): Promise<string> {
  const backend = await site.gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` });
  const routes = `/edges/https/${site.edgeId}/routes`;
  const { id } = await site.gatehouse.create(routes, {
    match_type: 'path_prefix',
    match: path,
    backend: { backend_id: backend.id },
    ...modules,
  });
  return `${routes}/${id}`;
}

test('curl speaks HTTP/2 with an edge, and sees header rules at work', async () => {
  await site.gatehouse.put(`${site.routePath}/request_headers`, { add: { 'x-added': 'yes' }, remove: ['x-removed'] });
  const flags = [
    '-sSk',
    '--http2',
    '--connect-to',
    `::127.0.0.1:${site.httpsPort}`,
    '-H',
    'X-Removed: 1',
    '-H',
    'X_Removed: 1',
  ];
  const { stdout } = await run('curl', [...flags, '-d', 'body', `https://${siteHost}/path?a=b`]);
  const { method, url, headers } = JSON.parse(stdout);
  assert.deepEqual([method, url, headers['x-added']], ['POST', '/path?a=b', 'yes']);
  assert.doesNotMatch(stdout, /removed/i);
});

test('two hundred streams of one HTTP/2 connection are all answered', async () => {
  await using upstream = await startUpstream('large', (_request, response) => {
    response.end(Buffer.alloc(100_000, 'x'));
  });
  await route('/large', upstream.port);
  const session = openHttp2();
  const answers = await Promise.all(Array.from({ length: 200 }, () => askHttp2(session, '/large')));
  assert.deepEqual(
    new Set(answers.map(({ headers, text }) => `${headers[':status']} ${text.length}`)),
    new Set(['200 100000']),
  );
  session.destroy();
});

test('a header that an upstream sends twice, or a rule adds beside its own, does not break HTTP/2', async () => {
  await using upstream = await startUpstream('twice', (_request, response) => {
    const twice = ['X-Content-Type-Options', 'nosniff', 'X-Content-Type-Options', 'nosniff', 'Age', '1', 'Age', '1'];
    response.writeHead(200, ['Content-Type', 'text/plain', 'Content-Length', '2', ...twice]).end('ok');
  });
  await route('/twice', upstream.port, { response_headers: { add: { 'content-type': 'text/html', 'x-new': '1' } } });
  const session = openHttp2();
  const { headers, text } = await askHttp2(session, '/twice');
  assert.deepEqual([headers[':status'], text, headers['x-new']], [200, 'ok', '1']);
  session.destroy();
});

test('a route compresses what its module asks for, and obeys when the module changes', async () => {
  await using upstream = await startUpstream('pages', (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('page '.repeat(1000));
  });
  const path = await route('/pages', upstream.port, { compression: {} });
  const flags = ['-sSk', '--connect-to', `::127.0.0.1:${site.httpsPort}`, '-w', ' %{size_download}'];
  const ask = async () => (await run('curl', [...flags, '--compressed', `https://${siteHost}/pages`])).stdout;
  const [text = '', size = ''] = (await ask()).split(/ (?=\d+$)/);
  assert.equal(text, 'page '.repeat(1000));
  assert.ok(Number(size) < 500, `${size} bytes`);
  await site.gatehouse.put(`${path}/compression`, { enabled: false });
  assert.equal(await ask(), `${text} 5000`);
});

test('a WebSocket goes through a route, and ends at both sides', async () => {
  await using upstream = await startUpstream('sockets');
  const server = new WebSocketServer({ server: upstream.server });
  server.on('connection', (socket, { headers }) => {
    socket.send(`${String(headers['x-added'])} for ${String(headers['x-forwarded-for'])}`);
    socket.on('message', (data) => socket.send(data));
  });
  await route('/sockets', upstream.port, { request_headers: { add: { 'x-added': 'hello' } } });
  // The option belongs to the connection below; the type omits it.
  const tls: ClientOptions & { readonly servername: string } = { servername: siteHost, rejectUnauthorized: false };
  const url = `wss://127.0.0.1:${site.httpsPort}/sockets/1`;
  const socket = new WebSocket(url, { ...tls, headers: { host: siteHost } });
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(Buffer.isBuffer(data) ? data.toString() : 'not a buffer'));
  await once(socket, 'open');
  socket.send('x'.repeat(200_000));
  await until(() => messages.length === 2, 'both messages arrive');
  assert.deepEqual([messages[0], messages[1]?.length], ['hello for 127.0.0.1', 200_000]);
  socket.close(1000, 'enough');
  await once(socket, 'close');
  await until(() => server.clients.size === 0, 'the upstream sees the end');
  server.close();
});

test('a client of HTTP/2 that resets its streams as fast as it can is cut off, and nobody else notices', async () => {
  const session = openHttp2();
  await once(session, 'connect');
  const cuts: number[] = [];
  session.on('goaway', (code) => cuts.push(code));
  // A stream that is reset while its request is still queued is never sent.
  const sent = () => until(() => session.destroyed || session.state.outboundQueueSize === 0, 'the frames are sent');
  // Several times the number of resets that the gateway tolerates.
  for (let round = 0; round < 100 && cuts.length === 0 && !session.closed; round++) {
    const streams = Array.from({ length: 50 }, () => session.request({ ':path': '/', ':authority': siteHost }));
    for (const stream of streams) stream.on('error', () => {});
    await sent();
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await sent();
  }
  await until(() => cuts.length > 0, 'the gateway cuts the client off');
  assert.notEqual(cuts[0], constants.NGHTTP2_NO_ERROR);
  session.destroy();
  assert.equal((await site.askHttps()).status, 200);
});
