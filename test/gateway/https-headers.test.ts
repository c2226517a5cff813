import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';

import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import {
  backendEntry,
  edgeEntry,
  prefixRoute,
  requestHeaders,
  responseHeaders,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { suitesOf } from '../support/tls-suites.ts';

interface HeaderCase {
  readonly name: string;
  readonly sent?: readonly string[];
  readonly add?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  readonly trusted?: boolean;
  /** Headers that the upstream receives, by lower-case name. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
}

/** Names by which proxies tell where a request came from and who sent it, beside those that start with `x-forwarded-`. */
const claims = `
  cf-connecting-ip cf-connecting-ipv6 client-ip fastly-client-ip forwarded forwarded-for proxy-client-ip remote-addr
  true-client-ip wl-proxy-client-ip x-azure-clientip x-azure-socketip x-client-ip x-cluster-client-ip
  x-envoy-external-address x-forwarded x-original-forwarded-for x-originating-ip x-proxyuser-ip x-real-ip x-remote-addr
  x-remote-ip x-host x-http-host-override x-original-host x-original-uri x-original-url x-rewrite-url cf-visitor
  front-end-https x-scheme x-url-scheme x-arr-ssl via x-http-method x-http-method-override x-method-override
  client-cert client-cert-chain x-client-cert-fingerprint x-client-cert-names x-client-cert-serial x-client-cert-subject
  x-ssl-client-cert x-ssl-client-verify x-ssl-client-s-dn x-ssl-cert ssl-client-verify ssl-client-cert x-arr-clientcert
  x-amzn-mtls-clientcert x-client-verify x-client-dn cf-client-cert-der-base64 x-client-cert-issuer remote-user
  remote-email remote-groups remote-name x-remote-user x-remote-email x-remote-group x-remote-groups x-remote-name
  x-auth-request-email x-auth-request-user x-webauth-user x-webauth-groups auth-user oidc-claim-email
  cf-access-authenticated-user-email cf-access-jwt-assertion tailscale-user-login x-amzn-oidc-identity x-authentik-username
  tailscale-name oidc-access-token oidc-id-token oidc-userinfo-email x-anonymous-consumer x-credential-identifier
  x-authenticated-userid x-consumer-username x-goog-authenticated-user-email x-goog-iap-jwt-assertion x-ms-client-principal
  x-ms-client-principal-name x-ms-token-aad-id-token x-pomerium-jwt-assertion x-vouch-user fly-client-ip
  cloudfront-viewer-address x-client-cert x-client-certificate x-clientcert x-client-ssl-cn x-client-s-dn x-client-i-dn
  x-client-subjectdn x-tls-client-cn x-nginx-client-verify`
  .trim()
  .split(/\s+/);

const cases: readonly HeaderCase[] = [
  { name: 'a client header goes on', sent: ['X-A: 1', 'x-a: 2'], seen: { 'x-a': ['1', '2'] } },
  { name: 'an added header arrives', add: { 'x-a': '1' }, seen: { 'x-a': ['1'] } },
  {
    name: 'an added header stands beside the client’s own',
    sent: ['X-A: 0'],
    add: { 'x-a': '1' },
    seen: { 'x-a': ['0', '1'] },
  },
  { name: 'a removed header is gone', sent: ['X-A: 0', 'x-a: 1'], remove: ['x-a'], seen: { 'x-a': [] } },
  { name: 'remove and add replace', sent: ['X-A: 0'], add: { 'x-a': '1' }, remove: ['x-a'], seen: { 'x-a': ['1'] } },
  { name: 'an added host replaces', add: { host: 'inner.test' }, seen: { host: ['inner.test'] } },
  { name: 'the host arrives in one spelling', sent: ['Host: APP.test.:443'], seen: { host: ['app.test'] } },
  {
    name: 'hop-by-hop headers end here',
    sent: ['Keep-Alive: 5', 'Proxy-Connection: x', 'TE: gzip', 'Trailer: x', 'Proxy-Authorization: x', 'Proxy: x'],
    seen: { 'keep-alive': [], 'proxy-connection': [], te: [], trailer: [], 'proxy-authorization': [], proxy: [] },
  },
  {
    name: 'what Connection names ends here',
    sent: ['X-A: 1', 'Connection: x-a , X-B', 'x-b: 1'],
    seen: { 'x-a': [], 'x-b': [] },
  },
  {
    name: 'a client’s Connection cannot drop an added header',
    sent: ['Connection: X-Added'],
    add: { 'x-added': '1' },
    seen: { 'x-added': ['1'] },
  },
  {
    name: 'a client’s Connection cannot drop the forwarding headers or the host',
    sent: ['Connection: X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Host'],
    seen: {
      'x-forwarded-for': ['127.0.0.1'],
      'x-forwarded-proto': ['https'],
      'x-forwarded-host': ['app.test'],
      host: ['app.test'],
    },
  },
  {
    name: 'forwarding headers of an untrusted client are replaced',
    sent: ['X-Forwarded-For: 10.0.0.1', 'X-Forwarded-Proto: http', 'X-Forwarded-Host: evil.test'],
    seen: { 'x-forwarded-for': ['127.0.0.1'], 'x-forwarded-proto': ['https'], 'x-forwarded-host': ['app.test'] },
  },
  {
    name: 'other claims about the way of an untrusted client are dropped',
    sent: [
      'Forwarded: for=10.0.0.1',
      'X-Real-IP: 10.0.0.1',
      'X-Forwarded-Port: 1',
      'X-Original-URL: /admin',
      'X-Rewrite-URL: /admin',
    ],
    seen: { forwarded: [], 'x-real-ip': [], 'x-forwarded-port': [], 'x-original-url': [], 'x-rewrite-url': [] },
  },
  {
    name: 'claims in another spelling are dropped, whoever sends them',
    sent: ['X_Forwarded_For: 10.0.0.1', 'X.Forwarded.Proto: http', 'Content_Length: 5', 'Transfer_Encoding: chunked'],
    trusted: true,
    seen: { x_forwarded_for: [], 'x.forwarded.proto': [], content_length: [], transfer_encoding: [] },
  },
  {
    name: 'a client’s certificate and name in the spelling of CGI are dropped',
    sent: ['SSL_CLIENT_VERIFY: SUCCESS', 'REMOTE_USER: root', 'X_SSL_Client_S_DN: CN=root', 'X-Sslate: 1', 'Remote: 1'],
    seen: { ssl_client_verify: [], remote_user: [], x_ssl_client_s_dn: [], 'x-sslate': ['1'], remote: ['1'] },
  },
  {
    name: 'a trusted proxy’s forwarding headers are kept, and it is appended',
    sent: [
      'X-Forwarded-For: 10.0.0.1',
      'X-Forwarded-For: 10.0.0.2',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: outer.test',
      'X-Real-IP: 10.0.0.1',
    ],
    trusted: true,
    seen: {
      'x-forwarded-for': ['10.0.0.1, 10.0.0.2, 127.0.0.1'],
      'x-forwarded-proto': ['http'],
      'x-forwarded-host': ['outer.test'],
      'x-real-ip': ['10.0.0.1'],
    },
  },
  {
    name: 'removing a name removes it in every punctuation',
    sent: ['X_Internal: 1', 'X.Internal: 1', 'x-internal: 1', 'X-Internal-2: 1', 'X_Other: 1'],
    remove: ['x-internal'],
    seen: { x_internal: [], 'x.internal': [], 'x-internal': [], 'x-internal-2': ['1'], x_other: ['1'] },
  },
  {
    name: 'removing a name with an underscore removes its other spellings',
    sent: ['X-Internal: 1', 'X_Internal: 1'],
    remove: ['x_internal'],
    seen: { x_internal: [], 'x-internal': [] },
  },
  {
    name: 'removing a name with mixed punctuation removes every spelling of it',
    sent: [
      'X-Internal-Id: 1',
      'X_Internal_Id: 1',
      'X.Internal.Id: 1',
      'x_internal-id: 1',
      'x-internal_id: 1',
      'X-Id: 1',
    ],
    remove: ['x-internal_id'],
    seen: {
      'x-internal-id': [],
      x_internal_id: [],
      'x.internal.id': [],
      'x_internal-id': [],
      'x-internal_id': [],
      'x-id': ['1'],
    },
  },
  {
    name: 'every name by which proxies tell about the client is dropped from an untrusted one',
    sent: claims.flatMap((name) => [`${name}: 1`, `${name.replaceAll('-', '_').toUpperCase()}: 1`]),
    seen: Object.fromEntries(
      claims.flatMap((name) => [
        [name, []],
        [name.replaceAll('-', '_'), []],
      ]),
    ),
  },
  {
    name: 'every name by which proxies tell about the client goes on from a trusted one',
    sent: claims.map((name) => `${name}: 1`),
    trusted: true,
    seen: Object.fromEntries(claims.map((name) => [name, ['1']])),
  },
  { name: 'a name with an underscore that nothing removes goes on', sent: ['X_Fine: 1'], seen: { x_fine: ['1'] } },
  {
    name: 'a header called like a property of objects goes on',
    sent: ['__proto__: 1'],
    seen: { ['__proto__']: ['1'] },
  },
  {
    name: 'bytes of a value arrive as they were',
    sent: ['X-A: caf\u00c3\u00a9'],
    seen: { 'x-a': ['caf\u00c3\u00a9'] },
  },
];

suite('headers towards the upstream', async () => {
  for (const { name, sent = [], add = {}, remove = [], trusted, seen } of cases) {
    test(name, async () => {
      await using upstream = await startUpstream();
      await using gateway = await startGateway(
        [
          backendEntry('b', upstream.port),
          edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...requestHeaders(add, remove) })]),
        ],
        trusted === true ? { trustedProxies: ['127.0.0.1/32'] } : {},
      );
      assert.equal((await sendRaw(gateway.port, get('/', ...sent))).status, 200);
      for (const [header, values] of Object.entries(seen)) {
        assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], header), values, header);
      }
    });
  }
});

test('docs/operating.md lists the names by which proxies tell about the client', () => {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [table = ''] = /\| about \| names \|[^]*?\n\n/.exec(page) ?? [];
  const listed = Array.from(table.matchAll(/`([^`]+)`/g), ([, name = '']) => name.toLowerCase());
  const prefixes = listed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const others = claims.filter((claim) => !prefixes.some((prefix) => claim.startsWith(prefix)));
  assert.deepEqual(listed.filter((name) => !name.endsWith('*')).toSorted(), others.toSorted());
  for (const prefix of prefixes)
    assert.ok(
      claims.some((claim) => claim.startsWith(prefix)),
      prefix,
    );
});

test('HTTP/2 cookies arrive in one line', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const session = openHttp2(gateway.port);
  await requestHttp2(session, { ':path': '/', cookie: ['a=1', 'b=2'], 'x-a': 'y' });
  session.close();
  const headers = upstream.seen[0]?.headers ?? [];
  assert.deepEqual(headerValues(headers, 'cookie'), ['a=1; b=2']);
  assert.deepEqual(headerValues(headers, 'x-a'), ['y']);
  assert.deepEqual(
    headers.filter((text) => text.startsWith(':')),
    [],
  );
});

test('headers towards the client: hop-by-hop and what Connection names end here, then the module removes and adds', async () => {
  await using upstream = await startUpstream((_, response) => {
    response.writeHead(200, {
      Connection: 'x-private',
      'X-Private': '1',
      'Proxy-Authenticate': 'x',
      Server: 'inner',
      'X-Powered-By': 'y',
      'Set-Cookie': ['a=1', 'b=2'],
      'X-Kept': '1',
    });
    response.end('body');
  });
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry(
      'e',
      ['app.test'],
      [
        prefixRoute('/', {
          ...toBackend('b'),
          ...responseHeaders({ server: 'edge', 'x-new': '1' }, ['server', 'x-powered-by']),
        }),
      ],
    ),
  ]);
  const { headers } = await sendRaw(gateway.port, get('/'));
  assert.equal(headers['x-private'], undefined);
  assert.equal(headers['proxy-authenticate'], undefined);
  assert.equal(headers['x-powered-by'], undefined);
  assert.equal(headers['server'], 'edge');
  assert.equal(headers['x-new'], '1');
  assert.equal(headers['x-kept'], '1');
  assert.equal(headers['set-cookie'], 'a=1,b=2');
  const session = openHttp2(gateway.port);
  const answer = await requestHttp2(session, { ':path': '/' });
  session.close();
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(answer.headers['server'], 'edge');
  assert.equal(answer.headers['connection'], undefined);
});

test('headers that a route removes are removed from interim responses and trailers too, and those it adds stay out', async () => {
  const hidden = 'X-Hide: HIDDEN\r\nx-hide: HIDDEN\r\nX_Hide: HIDDEN\r\nx.hide: HIDDEN\r\n';
  await using upstream = await startRawUpstream((socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\n${hidden}Link: </a.css>\r\n\r\n`);
    socket.write(`HTTP/1.1 200 OK\r\n${hidden}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    socket.write(`0\r\n${hidden}X-Sum: 3\r\n\r\n`);
  });
  const modules = { ...toBackend('b'), ...responseHeaders({ 'x-added': 'once' }, ['x-hide']) };
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', modules)]),
  ]);
  const { text } = await sendRaw(gateway.port, get('/', 'TE: trailers'));
  assert.match(text, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /\r\n0\r\nX-Sum: 3\r\n\r\n$/);
  assert.doesNotMatch(text, /HIDDEN/);
  assert.equal(text.match(/x-added: once/g)?.length, 1);
  const session = openHttp2(gateway.port);
  const stream = session.request({ ':path': '/', ':authority': 'app.test' });
  const heads: object[] = [];
  stream.on('headers', (head) => heads.push(head)).on('trailers', (trailers) => heads.push(trailers));
  await once(stream.resume(), 'close');
  session.close();
  assert.deepEqual(
    heads.map((head) => Object.entries(head)),
    [
      [
        [':status', 103],
        ['link', '</a.css>'],
      ],
      [['x-sum', '3']],
    ],
  );
});

test('TLS 1.2 is spoken with authenticated suites only', async () => {
  await using gateway = await startGateway([edgeEntry('e', ['app.test'], [])]);
  const suites = await suitesOf({ port: gateway.port, servername: 'app.test' });
  assert.deepEqual(suites, ['ECDHE-ECDSA-AES128-GCM-SHA256']);
});
