import assert from 'node:assert/strict';
import { test } from 'node:test';

import { get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startUpstream } from './support/https-upstream.ts';
import { startWithPolicy } from './support/policies.ts';

const rule = (type: string, config: object) => ({ actions: [{ type, config }] });
const note = (name: string, value: string) => rule('add-headers', { headers: { [name]: value } });

test('a value of a header is never taken for the name of one', async (t) => {
  const { upstream, gateway } = await startWithPolicy(t, {
    on_http_request: [note('x-told', '[${req.user_agent}] [${req.content_type}]')],
  });
  await sendRaw(gateway.port, get('/', 'X-A: user-agent', 'X-B: content-type', 'X-C: text/plain'));
  await sendRaw(gateway.port, get('/', 'X-A: user-agent', 'User-Agent: curl', 'Content-Type: a/b; c=d'));
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headerValues(headers, 'x-told')),
    [['[] []'], ['[curl] [a/b]']],
  );
});

test('what was read of a URL is read again once it is rewritten', async (t) => {
  const url = "${req.url.host} ${req.url.path} ${getQueryParam('a')}";
  const { upstream, gateway } = await startWithPolicy(t, {
    on_http_request: [
      note('x-first', url),
      rule('url-rewrite', { from: 'https://app.test', to: 'https://inner.test' }),
      note('x-host', url),
      rule('url-rewrite', { from: 'a=1', to: 'a=2' }),
      note('x-query', url),
    ],
  });
  assert.equal((await sendRaw(gateway.port, get('/p?a=1'))).status, 200);
  const headers = upstream.seen[0]?.headers ?? [];
  assert.deepEqual(
    ['x-first', 'x-host', 'x-query'].map((name) => headerValues(headers, name).join()),
    ['app.test /p ["1"]', 'inner.test /p ["1"]', 'inner.test /p ["2"]'],
  );
});

test('the length of an answer is known where the upstream gives one', async (t) => {
  const upstream = await startUpstream(({ url }, response) => {
    if (url === '/known') response.end('four');
    else {
      response.write('fo');
      response.end('ur');
    }
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const policy = {
    on_http_response: [note('x-length', "${has(res.content_length) ? string(res.content_length) : 'none'}")],
  };
  const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...trafficPolicy(policy) })]);
  const gateway = await startGateway([backendEntry('b', upstream.port), edge]);
  t.after(() => gateway[Symbol.asyncDispose]());
  const lengthAt = async (path: string) => (await sendRaw(gateway.port, get(path))).headers['x-length'];
  assert.deepEqual([await lengthAt('/known'), await lengthAt('/chunks')], ['4', 'none']);
});
