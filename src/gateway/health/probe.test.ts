import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import type { ActiveCheckEntry } from '../../snapshot/contract.ts';
import { createUpstream } from '../upstream/create-upstream.ts';
import { probe } from './probe.ts';

const authority = new ClientAuthority('upstreams');
const pair = authority.sign('upstream', { usage: 'serverAuth', names: ['localhost'] });
const base: ActiveCheckEntry = {
  kind: 'http',
  path: '/healthy',
  statuses: [[200, 299]],
  intervalMs: 1000,
  timeoutMs: 1000,
  failures: 1,
  passes: 1,
};

/** An upstream that says of each request what it has asked for, and a way to check it. */
async function start(t: TestContext, tls: boolean) {
  const asked: (readonly [host: string | undefined, path: string | undefined])[] = [];
  const serve: RequestListener = ({ url, headers: { host } }, response) => {
    asked.push([host, url]);
    response.writeHead(url === '/healthy' ? 204 : 503).end();
  };
  const server = tls ? createHttpsServer(pair, serve) : createHttpServer(serve);
  await once(server.listen(0, 'localhost'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const inward = { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' };
  const { connect } = createUpstream({
    options: { inward, upstreamAuthorities: [authority.pem] },
    observer: { backendRefused: () => {} },
  });
  const target = { id: 'b', host: 'localhost', port, tls };
  const check = (more: Partial<ActiveCheckEntry> = {}) => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    probe(connect, target, { ...base, ...more }, () => {}, resolve);
    return promise;
  };
  return { asked, port, check };
}

for (const tls of [false, true])
  test(`a check goes by the status of the answer, and asks for the host that it is told (TLS: ${tls})`, async (t) => {
    const { asked, port, check } = await start(t, tls);
    assert.equal(await check(), undefined);
    assert.equal(await check({ path: '/ill', host: 'app.example.com' }), 'it answered 503');
    assert.equal(await check({ statuses: [[200, 203]] }), 'it answered 204');
    assert.equal(await check({ kind: 'tcp' }), undefined);
    assert.deepEqual(asked, [
      [`localhost:${port}`, '/healthy'],
      ['app.example.com', '/ill'],
      [`localhost:${port}`, '/healthy'],
    ]);
  });
