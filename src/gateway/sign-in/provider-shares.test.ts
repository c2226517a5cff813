import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { requestVisit, signInOf } from '../../../test/support/step-visit.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { oidc } from '../../modules/oidc/index.ts';
import { createFetch } from '../../sign-in/guarded-fetch.ts';
import { Signatures } from '../../sign-in/signatures.ts';
import { Providers } from './providers.ts';
import { VisitorKeys } from './visitor-keys.ts';
import { Visitors } from './visitors.ts';

const log = { info() {}, warn() {}, error() {} };
const fetchFor = createFetch(({ host, port }, _options, established) => connect({ host, port }, established));
const callback = 'https://app.example.com/callback';

/** A server on which each path is a provider of its own. What `hangs` names has no answer until `end`. */
async function startProviders(t: TestContext, hangs: (path: string) => boolean) {
  const held = new Set<ServerResponse>();
  let isOver = false;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (isOver) response.destroy();
    else if (hangs(path)) held.add(response);
    else {
      const issuer = `${url}${path.replace('/.well-known/openid-configuration', '')}`;
      const names = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'];
      const metadata = { issuer, ...Object.fromEntries(names.map((name) => [name, `${issuer}/${name}`])) };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    }
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  // A server that listens on a port.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const end = (): void => {
    isOver = true;
    for (const response of held) response.destroy();
  };
  t.after(end);
  return { url, held, end };
}

function signIn(issuer: string) {
  const input = { issuer, client_id: 'c', client_secret: 's' };
  return signInOf(oidc.build({ ...oidc.accept(input), client_secret: 's' }));
}

const signatures = () => new Signatures({ fetchFor, log });

test('an account with two hundred providers that hang keeps 64 connections, and logins of other accounts go on', async (t) => {
  const { url, held, end } = await startProviders(t, (path) => path.startsWith('/hangs'));
  const providers = new Providers({ fetchFor, signatures: signatures(), log, secrets: { get: () => undefined } });
  const begin = (account: string, path: string) =>
    providers
      .get(account, signIn(`${url}/${path}`).provider)
      .begin(callback, undefined)
      .then(
        () => 'begun',
        () => 'failed',
      );
  const hanging = Array.from({ length: 200 }, (_, at) => begin('ac_1', `hangs${at}`));
  await until(() => held.size >= 64, '64 wait');
  assert.equal(await begin('ac_2', 'good'), 'begun');
  assert.equal(held.size, 64);
  end();
  assert.deepEqual(new Set(await Promise.all(hanging)), new Set(['failed']));
});

test('a provider that hangs keeps half of what its account may have, and its other providers go on', async (t) => {
  const { url, held, end } = await startProviders(t, (path) => path === '/one/userinfo_endpoint');
  const providers = new Providers({ fetchFor, signatures: signatures(), log, secrets: { get: () => undefined } });
  const of = (path: string) => providers.get('ac_1', signIn(`${url}/${path}`).provider);
  const checks = Array.from({ length: 100 }, () =>
    of('one')
      .check('ada', { kind: 'access', value: 'token' })
      .catch((error: unknown) => error),
  );
  await until(() => held.size >= 32, '32 wait');
  await of('other').begin(callback, undefined);
  assert.equal(held.size, 32);
  end();
  await Promise.all(checks);
});

test('a source that finishes very many logins at once leaves places to others', async (t) => {
  const { url, held, end } = await startProviders(t, (path) => path === '/token_endpoint');
  const keys = new VisitorKeys();
  const key = {
    kind: 'visitor_key' as const,
    id: '1',
    secret: Buffer.alloc(32, 7).toString('base64'),
    privateJwk: '{}',
  };
  keys.prepare({ version: 1, full: true, set: [key], removed: [] }, () => assert.fail('the key is good'))();
  const observer = { visitorSeen() {}, visitorLeft() {} };
  const parts = { keys, fetchFor, signatures: signatures(), observer, log };
  const visitors = new Visitors({ ...parts, secrets: { get: () => undefined } });
  const rules = signIn(url);
  const routes = {
    signIns: new Map([[rules.key, rules]]),
    signInsAt: () => ({ routeId: 'r', signIns: [rules], modules: [] }),
  };
  const begun = await visitors.answer(requestVisit({ target: '/.gatehouse/sign-in?to=/' }), routes);
  const valueOf = (name: string) => begun.headers[begun.headers.indexOf(name) + 1] ?? '';
  const state = new URL(valueOf('Location')).searchParams.get('state') ?? '';
  const cookie = valueOf('Set-Cookie').replace(/;.*/, '');
  const finish = (source: string) =>
    visitors.answer(
      requestVisit({
        target: `/.gatehouse/sign-in/callback?code=c&state=${state}&iss=${encodeURIComponent(url)}`,
        headers: ['Cookie', cookie],
        source: parseIp(source)!,
      }),
      routes,
    );
  const flood = Array.from({ length: 200 }, () => finish('2001:db8::1'));
  // Logins that would wait behind a hundred others are told to come again.
  for (const { status, refusal } of await Promise.all(flood.slice(108))) {
    assert.equal(status, 503);
    assert.equal(refusal?.name, 'UserError');
  }
  await until(() => held.size >= 8, '8 wait');
  const others = [finish('2001:db8::2'), finish('192.0.2.9')];
  await until(() => held.size >= 9, '9 wait');
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  assert.equal(held.size, 9, 'addresses of one network are one source');
  end();
  await Promise.all([...flood, ...others]);
});
