import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useRequestHosts } from '../../src/modules/request-hosts.ts';
import { trafficPolicy as module } from '../../src/modules/traffic-policy/index.ts';
import { call, ofVault, startAsked, telling } from './support/asked-endpoint.ts';
import { get, sendRaw } from './support/https-client.ts';
import { refusalOf, startWithPolicy, vaultWith } from './support/policies.ts';

test('what visitors send chooses no other host and no other path', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => response.end(request.url));
  const body = '${actions.ngrok.http_request.res.body}';
  const { gateway, setPolicy } = await startWithPolicy(
    t,
    telling({ url: "https://${req.headers['x-tenant'][0]}.internal/check" }, body),
    entries,
  );
  const from = (name: string, value: string) => sendRaw(gateway.port, get('/', `${name}: ${value}`));
  assert.equal((await from('X-Tenant', 'auth')).body, '/check');
  for (const value of ['auth.internal/delete?id=7#', 'auth.internal/delete/', 'x@auth', 'auth:80', 'auth.internal\\']) {
    assert.equal((await from('X-Tenant', value)).status, 500, value);
  }
  await setPolicy(telling({ url: "https://auth.internal/users/${req.headers['x-id'][0]}/check" }, body));
  assert.equal((await from('X-Id', '7')).body, '/users/7/check');
  for (const value of ['../admin?', '7#', '%2e%2e/admin', '..', '7/../../admin'])
    assert.equal((await from('X-Id', value)).status, 500, value);
  await setPolicy(telling({ url: 'https://auth.internal${req.url.path}' }, body));
  assert.equal((await sendRaw(gateway.port, get('/a/b'))).body, '/a/b');
  assert.deepEqual(
    asked.seen.map(({ url }) => url),
    ['/check', '/users/7/check', '/a/b'],
  );
});

test('a value behind a host is its path, for internal endpoints and for servers that the operator has named', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => response.end(request.url));
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server, 'localhost', `*.localhost:${asked.port}`]);
  const { gateway, setPolicy } = await startWithPolicy(t, telling({}, ''), entries);
  const told = async (url: string, value: string) => {
    const expression = "${getQueryParam('v')[0]}";
    await setPolicy(
      telling({ url: url.replaceAll(/[$](?![{])/g, () => expression) }, '${actions.ngrok.http_request.res.body}'),
    );
    const { status, body } = await sendRaw(gateway.port, get(`/?v=${encodeURIComponent(value)}`));
    return `${status} ${body}`;
  };
  const answer = async (url: string, value: string) => {
    const text = await told(url, value);
    return text.startsWith('200 ') ? text.slice(4) : Number(text.slice(0, 3));
  };
  for (const host of ['https://auth.internal', 'https://auth.internal:443', `http://${server}`]) {
    assert.equal(await answer(`${host}$`, '/a/b'), '/a/b', host);
    assert.equal(await answer(`${host}$`, '/a?b=c'), '/a?b=c', host);
    assert.equal(await answer(`${host}$`, '?b=c'), '/?b=c', host);
    assert.equal(await answer(`${host}$`, ''), '/', host);
    assert.equal(await answer(`${host}$`, '/a"<ü'), '/a%22%3C%C3%BC', host);
    assert.equal(await answer(`${host}$/more`, '/a'), '/a/more', host);
    assert.equal(await answer(`${host}$/more`, ''), '/more', host);
    assert.equal(await answer(`${host}$$`, '/a'), '/a/a', host);
    assert.equal(await answer(`${host}$.json`, '/a'), '/a.json', host);
    assert.equal(await answer(`${host}/x/$/y`, '7'), '/x/7/y', host);
    const seen = asked.seen.length;
    for (const value of [
      '.internal',
      'x.localhost',
      ':1',
      '@other.internal',
      '1',
      '/../x',
      '/%2e%2e/x',
      '/a#',
      '\\x',
      '/\\x',
    ])
      assert.equal(await answer(`${host}$`, value), 500, `${host} ${value}`);
    assert.equal(await answer(`${host}$.internal/`, ''), 500, host);
    assert.equal(await answer(`${host}$.localhost:${asked.port}/`, ''), 500, host);
    // Whatever is written behind a value stays in the path.
    for (const value of ['7?', '7/z?x=']) assert.equal(await answer(`${host}/x/$/y`, value), 500, `${host} ${value}`);
    assert.equal(await answer(`${host}$/y`, '/admin?'), 500, host);
    assert.equal(asked.seen.length, seen, host);
  }
  assert.equal(await answer(`http://${server}$`, '//other.internal/x'), '//other.internal/x');
  assert.equal(await answer(`http://$:${asked.port}/x`, 'localhost'), '/x');
  assert.equal(await answer('http://localhost:$/x', String(asked.port)), '/x');
  assert.equal(await answer("https://${'auth.internal'}$.localhost/", '/x'), 500);
  assert.match(await told('https://b.test$', '/x'), /the operator has not named/);
  assert.equal(await answer('http://$/x', `${'a'.repeat(301)}.internal`), 500);
  for (const value of ['localhost/y?', 'x.internal/y?', 'auth.internal#'])
    assert.equal(await answer(`http://$:${asked.port}/x`, value), 500, value);
});

test('a host that is written out must be one that is asked, whatever the path is made of', () => {
  using _ = useRequestHosts(['a.test']);
  for (const url of [
    'https://b.test${req.url.path}',
    'https://b.test/${req.url.path}',
    'https://a.test:8443${req.url.path}',
    'https://b.test${req.url.path}/x',
    'https://b.test?a=${req.url.path}',
    'https://u:p@a.test/${req.url.path}',
    'tcp://a.test/${req.url.path}',
  ])
    assert.match(refusalOf(call({ url })), /^2226 .*config\.url/, url);
  for (const url of [
    'https://a.test${req.url.path}',
    'https://a.test/${req.url.path}',
    'https://a.test?a=${req.url.path}',
    'https://x.internal${req.url.path}',
    'https://api${vars.zone}.internal/',
    'https://${vars.host}/',
    '${vars.url}',
    'https://api.${vars.zone}',
    'https://api${vars.end}',
  ])
    module.checkWritten?.(module.accept({ value: JSON.stringify(call({ url })) }), 'https_route');
});

test('servers outside are asked where the operator has named them, and no others', async (t) => {
  const { asked } = await startAsked(t, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(262_145));
    else if (request.url === '/broken') response.destroy();
    else response.writeHead(201, { 'x-a': 'b' }).end(`${request.method} ${String(request.headers['x-key'])}`);
  });
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server, 'api.example.com', '*.example.org:8080']);
  const result = 'actions.ngrok.http_request';
  const document = telling(
    {
      url: `http://${server}/check`,
      method: 'POST',
      headers: { 'x-key': ofVault },
      body: 'sent',
      query_params: [{ key: 'a', value: '${req.host}' }],
    },
    `\${${result}.res.status_code} \${${result}.res.header['x-a'][0]} \${${result}.res.body}`,
  );
  const { gateway, setPolicy } = await startWithPolicy(t, document, vaultWith('token', 'a secret'));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '201 b POST a secret');
  const [seen] = asked.seen;
  assert.deepEqual([seen?.url, seen?.body], ['/check?a=app.test', 'sent']);
  const names = seen?.headers.map((each) => each.toLowerCase()) ?? [];
  assert.ok(names.includes(server) && !names.includes('x-forwarded-for'));
  await setPolicy(telling({ url: `http://${server}/long` }, `\${${result}.error.code}`));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_3601');
  // Whoever fills in a host comes to those that are named alone.
  const filled = telling({ url: '${getQueryParam("u")[0]}' }, `\${${result}.res.status_code}`);
  await setPolicy(filled);
  const to = async (url: string) => (await sendRaw(gateway.port, get(`/?u=${encodeURIComponent(url)}`))).status;
  assert.equal(await to(`http://${server}/`), 200);
  for (const url of [
    `http://127.0.0.1:${asked.port}/`,
    `http://${server}@127.0.0.1/`,
    'http://localhost/',
    `http://x.${server}/`,
  ])
    assert.equal(await to(url), 500, url);
  const refusal = (url: string) => refusalOf(call({ url }));
  for (const url of [
    'https://api.example.com:8443/',
    'https://example.org:8080/',
    'https://a.example.org/',
    'https://*.example.org:8080/',
  ])
    assert.match(refusal(url), /^2226 /, url);
  for (const url of ['https://api.example.com/', 'http://api.example.com:80/', 'https://a.b.example.org:8080/x'])
    module.accept({ value: JSON.stringify(call({ url })) });
});

test('a server is named with its port or without one, whichever way its URL is written', () => {
  const isTaken = (named: string, url: string) => {
    using _ = useRequestHosts([named]);
    const settings = module.accept({ value: JSON.stringify(call({ url })) });
    try {
      module.checkWritten?.(settings, 'https_route');
      return true;
    } catch {
      return false;
    }
  };
  for (const [named, urls] of [
    [
      'a.test',
      ['https://a.test/', 'https://a.test:443/', 'http://a.test/', 'https://A.test:80/', 'http://a.test:443/'],
    ],
    ['a.test:443', ['https://a.test/', 'https://a.test:443/', 'http://a.test:443/']],
    ['a.test:80', ['http://a.test/', 'http://a.test:80/', 'https://a.test:80/']],
    ['a.test:8443', ['https://a.test:8443/', 'http://a.test:8443/']],
    ['*.a.test', ['https://b.a.test/', 'http://c.b.a.test/']],
    ['*.a.test:443', ['https://b.a.test/', 'https://b.a.test:443']],
  ] as const)
    for (const url of urls) assert.ok(isTaken(named, url), `${named} ${url}`);
  for (const [named, urls] of [
    [
      'a.test',
      ['https://a.test:8443/', 'https://b.a.test/', 'https://ba.test/', 'https://a.test.b/', 'https://a.test./'],
    ],
    ['a.test:443', ['http://a.test/', 'https://a.test:80/', 'https://a.test:4433/']],
    ['a.test:80', ['https://a.test/', 'http://a.test:8080/']],
    ['a.test:8443', ['https://a.test/', 'http://a.test/', 'https://a.test:84433/', 'https://a.test:844/']],
    ['*.a.test', ['https://a.test/', 'https://ba.test/', 'https://b.a.test:8443/', 'https://b.a.test.c/']],
    ['*.a.test:443', ['http://b.a.test/', 'https://a.test/']],
  ] as const)
    for (const url of urls) if (URL.canParse(url)) assert.ok(!isTaken(named, url), `${named} ${url}`);
});

test('what cannot be asked is refused when the policy is written', () => {
  const refusal = (config: object) => refusalOf(call(config));
  for (const url of [
    'http://127.0.0.1/',
    'https://example.com/',
    'https://u:p@auth.internal/',
    'tcp://auth.internal:1',
    'auth.internal',
    'https://*.internal/',
  ])
    assert.match(refusal({ url }), /^2226 .*config\.url/, url);
  assert.match(refusal({ method: 'HEAD' }), /^2222 /);
  assert.match(refusal({ timeout: '31s' }), /^2225 /);
  assert.match(refusal({ max_redirects: 3 }), /^2204 .*not followed/);
  assert.match(refusal({ headers: { Host: 'x' } }), /^2208 /);
  assert.match(refusal({ retry_condition: '1' }), /^2200 /);
  assert.match(refusal({ retry_condition: 'last_attempt.res.status > 1' }), /^2200 .*status/);
  assert.match(refusalOf(call({}, 'on_tcp_connect')), /^2202 /);
});
