import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { suite, test } from 'node:test';

import { HeldBodies } from '../../src/gateway/bounds/held-bodies.ts';
import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { connectClient, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { headerValues, startUpstream } from './support/https-upstream.ts';

const secret = 'a secret';
const head = 'Host: app.test\r\nConnection: close\r\n';
const verified = (provider: string): ModuleSettings => ({
  ...toBackend('b'),
  webhook_verification: { enabled: true, provider, secret },
});
const sign = (body: string | Buffer): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

function gatewayTo(port: number, provider = 'github', settings?: GatewaySettings) {
  return startGateway(
    [backendEntry('b', port), edgeEntry('e', ['app.test'], [prefixRoute('/', verified(provider))])],
    settings,
  );
}

/** Every byte, and what must not be taken for the end of something. */
const odd = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), Buffer.from('\r\n0\r\n\r\n')]);

suite('webhooks', () => {
  test('a signed body arrives byte for byte, with its length', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const text = `POST / HTTP/1.1\r\n${head}X-Hub-Signature-256: ${sign(odd)}\r\nContent-Length: ${odd.length}\r\n\r\n`;
    const answer = await sendRaw(gateway.port, text + odd.toString('latin1'));
    assert.equal(answer.status, 200);
    assert.equal(upstream.seen[0]?.body, odd.toString('latin1'));
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'content-length'), [String(odd.length)]);
  });

  test('a chunked one arrives chunked, with its trailers', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const body = '3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n';
    const signature = `X-Hub-Signature-256: ${sign('abcde')}\r\n`;
    await sendRaw(gateway.port, `POST / HTTP/1.1\r\n${head}${signature}Transfer-Encoding: chunked\r\n\r\n${body}`);
    assert.equal(upstream.seen[0]?.body, 'abcde');
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'transfer-encoding'), ['chunked']);
    assert.deepEqual(upstream.seen[0]?.trailers, ['X-Sum', '5']);
  });

  test('over HTTP/2 as well, also when it is refused and another follows', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const session = openHttp2(gateway.port);
    const post = (body: string, signature: string) =>
      requestHttp2(session, { ':path': '/', ':method': 'POST', 'x-hub-signature-256': signature }, body);
    assert.equal((await post('abcde', sign('other'))).status, 403);
    assert.equal((await post('abcde', sign('abcde'))).status, 200);
    session.close();
    assert.deepEqual(
      upstream.seen.map(({ body }) => body),
      ['abcde'],
    );
  });

  test('others never reach the upstream, and the connection stays usable', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const post = (body: string, signature: string, last = '') =>
      `POST / HTTP/1.1\r\nHost: app.test\r\n${last}${signature}Content-Length: ${body.length}\r\n\r\n${body}`;
    const socket = await connectClient(gateway.port);
    socket.write(post('abc', ''));
    socket.write(post('abc', `X-Hub-Signature-256: ${sign('abd')}\r\n`));
    socket.write(post('abc', `X-Hub-Signature-256: ${sign('abc')}\r\n`, 'Connection: close\r\n'));
    const text = await readAll(socket);
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
      ['403', '403', '200'],
    );
    assert.match(text, /no header x-hub-signature-256/);
    assert.equal(upstream.seen.length, 1);
  });

  test('a client that waits for "100 Continue" gets it from the gateway, and the upstream is not asked', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const signature = `X-Hub-Signature-256: ${sign('abc')}\r\n`;
    socket.write(`POST / HTTP/1.1\r\n${head}${signature}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
    socket.once('data', (chunk: Buffer) => {
      assert.match(chunk.toString(), /^HTTP\/1\.1 100 /);
      socket.write('abc');
    });
    const { text } = parseAnswer(await readAll(socket));
    assert.match(text, /HTTP\/1\.1 200 /);
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'expect'), []);
  });

  test('a body beyond the bound is refused: by its length at once, else when it is passed', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const start = `POST / HTTP/1.1\r\n${head}X-Hub-Signature-256: sha256=00\r\n`;
    const announced = await sendRaw(gateway.port, `${start}Content-Length: 8388609\r\n\r\n`);
    assert.equal(announced.status, 413);
    assert.match(announced.body, /more than 8388608 bytes/);
    const socket = await connectClient(gateway.port);
    const answered = readAll(socket);
    socket.write(`${start}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = Buffer.alloc(65_536);
    for (let sent = 0; sent <= 8_388_608 && !socket.destroyed; sent += chunk.length)
      socket.write(Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]));
    assert.equal(parseAnswer(await answered).status, 413);
    assert.equal(upstream.seen.length, 0);
  });

  test('an upgrade is refused, because nobody signs what follows', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const lines = `Host: app.test\r\nConnection: Upgrade\r\nUpgrade: x\r\nX-Hub-Signature-256: ${sign('')}\r\n`;
    assert.equal((await sendRaw(gateway.port, `GET / HTTP/1.1\r\n${lines}\r\n`)).status, 403);
  });

  test('a challenge is answered, over each version of HTTP', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, 'twitter');
    const wanted = `sha256=${createHmac('sha256', secret).update('abc').digest('base64')}`;
    const answer = await sendRaw(gateway.port, `GET /?crc_token=abc HTTP/1.1\r\n${head}\r\n`);
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, { response_token: wanted }]);
    const session = openHttp2(gateway.port);
    const { body } = await requestHttp2(session, { ':path': '/?crc_token=abc' });
    session.close();
    assert.deepEqual(JSON.parse(body), { response_token: wanted });
    assert.equal(upstream.seen.length, 0);
  });
});

test('what a challenge has signed reaches no upstream', async () => {
  await using upstream = await startUpstream();
  await using gateway = await gatewayTo(upstream.port, 'twitter');
  const { body } = await sendRaw(gateway.port, `GET /?crc_token=action%3Ddelete HTTP/1.1\r\n${head}\r\n`);
  const { response_token: signature } = JSON.parse(body) as { readonly response_token: string };
  for (const method of ['POST', 'PUT', 'DELETE', 'GET']) {
    const lines = `X-Twitter-Webhooks-Signature: ${signature}\r\nContent-Length: 13\r\n`;
    const answer = await sendRaw(gateway.port, `${method} /in?a=1 HTTP/1.1\r\n${head}${lines}\r\naction=delete`);
    assert.equal(answer.status, 403, method);
  }
  assert.equal(upstream.seen.length, 0);
});

test('bodies that are held have room, for each account and in all, that comes back', () => {
  const bodies = new HeldBodies();
  const mebibyte = 1024 * 1024;
  assert.equal(bodies.add('a', 32 * mebibyte), true);
  assert.equal(bodies.add('a', 1), false);
  for (const account of ['b', 'c']) assert.equal(bodies.add(account, 32 * mebibyte), true);
  // The more is held, the less is there for each of those that come later.
  assert.equal(bodies.add('d', 16 * mebibyte), true);
  assert.equal(bodies.add('d', 1024), false);
  assert.equal(bodies.add('e', 9 * mebibyte), false);
  assert.equal(bodies.add('e', 8 * mebibyte), true);
  bodies.release('a', 32 * mebibyte);
  assert.equal(bodies.add('e', 9 * mebibyte), true);
});
