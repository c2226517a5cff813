import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InternalEndpointEntry, ModuleSettings } from '../../src/snapshot/contract.ts';
import { freePort } from '../support/free-port.ts';
import { get, sendRaw } from './support/https-client.ts';
import { backendEntry, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startUpstream as startHttpUpstream } from './support/https-upstream.ts';
import { startWithPolicy } from './support/policies.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { accountId, backend, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

const errorCode = 'gatehouse-error-code';
const spent = /takes more work than one request may cause/;

/** Takes a little more than a third of what a visit may cost. */
const costly = Array.from({ length: 24 }, () => ({
  expressions: ['lists.range(20).all(a, lists.range(20).all(b, a + b >= 0))'],
  actions: [{ type: 'set-vars', config: { vars: [{ a: 1 }] } }],
}));
const forwardTo = (url: string) => ({ actions: [{ type: 'forward-internal', config: { url } }] });

function internal(url: string, modules: ModuleSettings): InternalEndpointEntry {
  return { kind: 'internal_endpoint', id: url, accountId, url, modules };
}

test('a request that is forwarded has one budget for all endpoints', async (t) => {
  const policy = { on_http_request: [...costly, forwardTo('https://a.internal')] };
  const plain = { on_http_request: costly };
  const { gateway, upstream } = await startWithPolicy(t, policy, [
    internal('https://a.internal', { ...toBackend('b'), ...trafficPolicy(plain) }),
  ]);
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  const further = { on_http_request: [...costly, forwardTo('https://b.internal')] };
  await gateway.set(
    internal('https://a.internal', trafficPolicy(further)),
    internal('https://b.internal', { ...toBackend('b'), ...trafficPolicy(plain) }),
  );
  const { status, headers } = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2254']);
  assert.match(gateway.reasons.at(-1) ?? '', spent);
  assert.equal(upstream.seen.length, 1);
});

test('rules for the answer share the budget of the request at every endpoint', async (t) => {
  const policy = { on_http_request: [...costly, forwardTo('https://a.internal')], on_http_response: costly };
  const { gateway } = await startWithPolicy(t, policy, [
    internal('https://a.internal', { ...toBackend('b'), ...trafficPolicy({ on_http_response: costly }) }),
  ]);
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 500);
  assert.match(gateway.reasons.at(-1) ?? '', spent);
});

test('an endpoint that is out of reach gives back no work', async (t) => {
  const modules = { ...toBackend('none'), ...trafficPolicy({ on_http_request: costly }) };
  const ways = [0, 1, 2].map((at) => internal(`https://way-${at}.internal`, modules));
  const actions = [0, 1, 2].map((at) => ({
    type: 'forward-internal',
    config: { url: `https://way-${at}.internal`, on_error: 'continue' },
  }));
  const { gateway } = await startWithPolicy(t, { on_http_request: [{ actions }] }, ways);
  const { status } = await sendRaw(gateway.port, get('/'));
  assert.equal(status, 500);
  assert.match(gateway.reasons.at(-1) ?? '', spent);
});

test('a request that has waited goes on with what is left of its budget', async (t) => {
  const replace = { type: 'request-body-find-replace', config: { replacements: [{ from: 'a', to: 'b' }] } };
  const restrict = { type: 'restrict-ips', config: { allow: ['127.0.0.0/8'] } };
  const { gateway, setPolicy } = await startWithPolicy(t, {
    on_tcp_connect: [{ actions: [restrict] }],
    on_http_request: [...costly, { actions: [replace] }, ...costly],
  });
  const send = () =>
    sendRaw(gateway.port, 'POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 1\r\n\r\na');
  assert.equal((await send()).status, 200);
  await setPolicy({
    on_tcp_connect: [{ actions: [restrict] }],
    on_http_request: [...costly, ...costly, { actions: [replace] }, ...costly],
  });
  assert.equal((await send()).status, 500);
  assert.match(gateway.reasons.at(-1) ?? '', spent);
});

test('a request whose rules have changed while it waited is begun anew with what is left of its budget', async (t) => {
  const waiting: (() => void)[] = [];
  const asked = await startHttpUpstream((_, response) => void waiting.push(() => response.end()));
  t.after(() => asked[Symbol.asyncDispose]());
  const ask = { actions: [{ type: 'http-request', config: { url: 'https://a.internal', timeout: '30s' } }] };
  const first = { on_http_request: [...costly, ask] };
  const { gateway, setPolicy } = await startWithPolicy(t, first, [
    backendEntry('asked', asked.port),
    internal('https://a.internal', toBackend('asked')),
  ]);
  const send = async (...later: readonly object[]) => {
    await setPolicy(first);
    const sent = sendRaw(gateway.port, get('/'));
    await until(() => waiting.length === 1, 'it waits');
    await setPolicy({ on_http_request: later });
    waiting.pop()?.();
    return (await sent).status;
  };
  assert.equal(await send(...costly), 200);
  assert.equal(await send(...costly, ...costly), 500);
  assert.match(gateway.reasons.at(-1) ?? '', spent);
});

test('a connection that is forwarded has one budget for all endpoints', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const [short, long] = [await freePort(), await freePort()];
  const way = (...rules: readonly object[]) => trafficPolicy({ on_tcp_connect: [...costly, ...rules] });
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      tcpEdge('ep_0', [short], way(forwardTo('tcp://b.internal:2'))),
      tcpEdge('ep_1', [long], way(forwardTo('tcp://a.internal:1'))),
      internal('tcp://a.internal:1', way(forwardTo('tcp://b.internal:2'))),
      internal('tcp://b.internal:2', { ...toBackend('bkdsc_1'), ...way() }),
    ),
  );
  await dialAndEcho(t, short);
  await dial(t, long).isReset();
  await until(() => seen.verdicts.length === 2, 'both verdicts');
  assert.deepEqual(seen.verdicts, ['allowed', 'refused_by_module']);
  assert.match(seen.reasons.at(-1) ?? '', spent);
});
