import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { makePair } from '../../test/support/certificate-pair.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { onAnyDatabase } from '../../test/support/each-database.ts';
import { ApiError, ConnectionError, GatehouseClient } from './index.ts';

type Fault = (request: IncomingMessage, response: ServerResponse, forward: () => void) => void;

/** A proxy before the API that does something else to the first calls. */
async function startProxy(target: string, faults: Fault[]) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${String(request.headers['idempotency-key'] ?? '')}`);
    const forward = (): void => {
      const onward = httpRequest(
        new URL(request.url ?? '/', target),
        { method: request.method ?? 'GET', headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      request.pipe(onward);
    };
    const fault = faults.shift();
    if (fault === undefined) forward();
    else fault(request, response, forward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const cut: Fault = (request) => {
  request.socket.destroy();
};

/** The call is carried out, and its answer is lost. */
const carryOutAndCut =
  (target: string): Fault =>
  (request) => {
    const onward = httpRequest(
      new URL(request.url ?? '/', target),
      { method: request.method ?? 'GET', headers: request.headers },
      (answer) => {
        answer.resume().on('end', () => request.socket.destroy());
      },
    );
    request.pipe(onward);
  };

const busy =
  (status: number, retryAfter: string): Fault =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'retry-after': retryAfter, 'content-type': 'application/json' });
    response.end(JSON.stringify({ error_code: 'ERR_GATEHOUSE_226', status_code: status, msg: 'later', details: {} }));
  };

onAnyDatabase('the client', (newDatabase) => {
  let gatehouse: Gatehouse;
  before(async () => {
    gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
  });
  after(() => gatehouse[Symbol.asyncDispose]());

  const clientAt = (url = gatehouse.url) =>
    new GatehouseClient({ url: `${url}/`, token: gatehouse.token, retries: { longestPauseMs: 2000 } });

  test('calls operations by their id, with typed bodies and answers', async () => {
    const client = clientAt();
    const policy = await client.call('IpPoliciesCreate', { body: { description: 'office' } });
    assert.equal(policy.description, 'office');
    const read = await client.call('IpPoliciesGet', { path: { id: policy.id } });
    assert.deepEqual(read, policy);
    const rules = await client.call('IpPolicyRulesReplace', { path: { id: policy.id }, body: '203.0.113.0/24\n' });
    assert.equal(rules.added, 1);
    assert.equal(await client.call('IpPoliciesDelete', { path: { id: policy.id } }), undefined);
  });

  test('a refusal has status, code, number, message and the id of the call', async () => {
    const refusal = await clientAt()
      .call('IpPoliciesGet', { path: { id: 'ipp_000000000000000000000000000' } })
      .catch((error: unknown) => error);
    assert.ok(refusal instanceof ApiError);
    assert.equal(refusal.status, 404);
    assert.equal(refusal.code, 'ERR_GATEHOUSE_222');
    assert.equal(refusal.number, 222);
    assert.match(refusal.operationId, /^op_/);
    assert.match(refusal.message, /There is no IP policy/);
  });

  test('an ETag that is not the newest is refused', async () => {
    const client = clientAt();
    const { document, etag } = await client.reply('IpPoliciesCreate');
    const change = { path: { id: document.id }, ...(etag === undefined ? {} : { ifMatch: etag }) };
    await client.call('IpPoliciesUpdate', { ...change, body: { description: 'first' } });
    await assert.rejects(client.call('IpPoliciesUpdate', { ...change, body: { description: 'second' } }), {
      status: 412,
    });
  });

  test('a list is read page by page, as far as it is wanted', async () => {
    const client = clientAt();
    for (let count = 0; count < 7; count++) await client.call('StaticBackendsCreate', { body: { address: 'a:1' } });
    using proxy = await startProxy(gatehouse.url, []);
    const ids: string[] = [];
    for await (const { id } of clientAt(proxy.url).list('StaticBackendsList', { query: { limit: 3 } })) ids.push(id);
    assert.equal(ids.length, 7);
    assert.deepEqual(ids, ids.toSorted().toReversed());
    assert.equal(proxy.seen.length, 3);
    for await (const { id } of clientAt(proxy.url).list('StaticBackendsList', { query: { limit: 3 } })) {
      assert.equal(id, ids[0]);
      break;
    }
    assert.equal(proxy.seen.length, 4);
  });

  test('a creation whose answer is lost is repeated under the same key, and made once', async () => {
    using proxy = await startProxy(gatehouse.url, [carryOutAndCut(gatehouse.url), cut]);
    const description = `once ${proxy.url}`;
    const policy = await clientAt(proxy.url).call('IpPoliciesCreate', { body: { description } });
    assert.equal(proxy.seen.length, 3);
    assert.equal(new Set(proxy.seen).size, 1);
    const made: string[] = [];
    for await (const each of clientAt().list('IpPoliciesList'))
      if (each.description === description) made.push(each.id);
    assert.deepEqual(made, [policy.id]);
  });

  test('a deletion whose answer is lost has succeeded', async () => {
    const { id } = await clientAt().call('IpPoliciesCreate');
    using proxy = await startProxy(gatehouse.url, [carryOutAndCut(gatehouse.url)]);
    await clientAt(proxy.url).call('IpPoliciesDelete', { path: { id } });
    assert.equal(proxy.seen.length, 2);
  });

  test('a change that demands a state is not repeated blindly', async () => {
    const { document, etag = '' } = await clientAt().reply('IpPoliciesCreate');
    using proxy = await startProxy(gatehouse.url, [carryOutAndCut(gatehouse.url)]);
    const change = clientAt(proxy.url).call('IpPoliciesUpdate', {
      path: { id: document.id },
      body: { description: 'd' },
      ifMatch: etag,
    });
    await assert.rejects(change, ConnectionError);
    assert.equal(proxy.seen.length, 1);
  });

  test('429 and 503 are waited for as the server asks, but not for longer than allowed', async () => {
    using proxy = await startProxy(gatehouse.url, [busy(429, '1'), busy(503, '0')]);
    await clientAt(proxy.url).call('IpPoliciesCreate');
    assert.equal(proxy.seen.length, 3);
    using slow = await startProxy(gatehouse.url, [busy(429, '3600')]);
    await assert.rejects(clientAt(slow.url).call('IpPoliciesList'), { status: 429, retryAfter: 3600 });
    assert.equal(slow.seen.length, 1);
  });

  test('an abort ends the wait for the next try', async () => {
    using proxy = await startProxy(gatehouse.url, [busy(429, '30'), busy(429, '30')]);
    const stop = new AbortController();
    const patient = new GatehouseClient({
      url: proxy.url,
      token: gatehouse.token,
      retries: { longestPauseMs: 30_000 },
    });
    const call = patient.call('IpPoliciesList', { signal: stop.signal });
    const ended = assert.rejects(call, /enough/);
    while (proxy.seen.length === 0) await sleep(10);
    // The answer is on its way to the client.
    await sleep(50);
    stop.abort(new Error('enough'));
    await ended;
    assert.equal(proxy.seen.length, 1);
  });

  test('https at a port of plain HTTP, and a certificate of nobody, are told with the remedy', async () => {
    const secure = gatehouse.url.replace('http:', 'https:');
    const said = async (url: string) => {
      const client = new GatehouseClient({ url, retries: { attempts: 1 } });
      const error: unknown = await client.call('IpPoliciesList').catch((fault: unknown) => fault);
      return error instanceof ConnectionError ? error.message : String(error);
    };
    assert.equal(await said(secure), `No answer from ${secure}: it does not speak TLS; write ${gatehouse.url}`);
    const { certificate_pem: cert, private_key_pem: key } = makePair('own', '-subj', '/CN=own', '-days', '2');
    const server = createSecureServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // It listens on a port.
    const { port } = server.address() as AddressInfo;
    assert.match(await said(`https://127.0.0.1:${port}`), /certificate is not trusted .*NODE_EXTRA_CA_CERTS=FILE/);
    assert.match(await said(`http://127.0.0.1:${port}`), /is this the address of the API, and of plain HTTP\?$/);
    server.close();
  });

  test('each pause before another try is told', async () => {
    const pauses: string[] = [];
    const onPause = ({ message }: Error) => pauses.push(message);
    const client = new GatehouseClient({ url: 'http://127.0.0.1:1', retries: { attempts: 2, onPause } });
    await assert.rejects(client.call('IpPoliciesList'), ConnectionError);
    assert.equal(pauses.length, 1);
    assert.match(pauses[0] ?? '', /^No answer from http:\/\/127\.0\.0\.1:1: /);
  });

  test('a server that cannot be reached is named', async () => {
    using proxy = await startProxy(gatehouse.url, []);
    const { url } = proxy;
    proxy[Symbol.dispose]();
    const client = new GatehouseClient({ url, retries: { attempts: 1 } });
    await assert.rejects(client.call('IpPoliciesList'), (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.ok(error.message.startsWith(`No answer from ${url}`), error.message);
      return true;
    });
  });
});
