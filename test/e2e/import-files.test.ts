import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { remoteCommands } from '../support/command-host.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { scratchFolder } from '../support/scratch.ts';

const token = 'the-token-of-the-server-0123456789';
const folder = scratchFolder();
let server: GatehouseProcess;
before(async () => {
  server = await GatehouseProcess.serve(`sqlite:${join(folder, 'gatehouse.db')}`, [
    '--role',
    'api',
    '--bootstrap-token',
    token,
  ]);
});
after(() => server[Symbol.asyncDispose]());

/** Converts a file and applies the result; returns both texts. */
async function convert(flag: string, text: string, expected = 6) {
  const [from, to] = [join(folder, 'from'), join(folder, 'to.yaml')];
  await writeFile(from, text);
  const { code, out, errors } = await remoteCommands({}).end(['import', flag, from]);
  assert.equal(code, expected, errors);
  await writeFile(to, out);
  const variables = { GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: token };
  const commands = remoteCommands(variables);
  const applied = await commands.end(['apply', to, '--prune', '--yes']);
  assert.equal(applied.code, 0, `${applied.errors}\n${out}`);
  return { written: out, errors, exported: (await commands.end(['export'])).out };
}

test('the reverse proxies of a Caddyfile become edges, and what would let in more is a comment', async () => {
  const { written, errors, exported } = await convert(
    '--caddyfile',
    `
{
  email me@example.com
}
app.example.com, www.example.com {
  encode gzip zstd
  header X-Frame-Options "DENY"   # a comment
  request_header -X-Internal
  log
  handle /api/* {
    reverse_proxy https://api.internal:8443 other:1
  }
  handle {
    reverse_proxy localhost:3000
  }
}
private.example.com {
  basic_auth {
    me hash
  }
  reverse_proxy localhost:4000
}
matched.example.com {
  @posts method POST
  reverse_proxy @posts localhost:5000
}
:8080 {
  reverse_proxy localhost:6000
}
snippet.example.com {
  import proxied
}
http://plain.example.com {
  reverse_proxy localhost:7000
}
import sites/*
`,
  );
  assert.match(exported, /hostports:\n +- app\.example\.com:443\n +routes:\n +\/:\n/);
  assert.match(exported, /\/api:\n +(?:match_type: path_prefix\n +)?backend:\n +backend: api\.internal-8443/);
  assert.match(exported, /address: api\.internal:8443\n +tls:\n +enabled: true/);
  assert.match(exported, /compression: \{\}/);
  assert.match(exported, /x-frame-options: DENY/i);
  assert.match(exported, /www\.example\.com:443/);
  assert.match(written, /# line 11: without the upstreams other:1/);
  assert.match(written, /# line 9: log: not mapped/);
  const reasons = [
    'line 18: site private.example.com: basic_auth',
    'line 24: site matched.example.com: @posts method POST',
    'line 27: site :8080: an edge',
    'line 31: site snippet.example.com: import proxied: no snippet of this file',
    'line 33: site http://plain.example.com: it is served without TLS',
    'line 36: import sites/*: other files are not read',
  ];
  for (const reason of reasons) {
    assert.ok(written.includes(`# NOT MAPPED: ${reason}`), `${reason}\n${written}`);
    assert.ok(errors.includes(`\n  ${reason}`), `${reason}\n${errors}`);
  }
  assert.match(errors, /^ {2}line 9: app\.example\.com\/: log: not mapped$/m);
  assert.match(errors, /^ {2}line 11: app\.example\.com\/api: without the upstreams other:1/m);
  assert.doesNotMatch(exported.replaceAll(/^#.*$/gm, ''), /private|matched|4000|5000|6000|7000/);
});

test('a Caddyfile of one site needs no braces, and one that is broken is a fault', async () => {
  const { exported } = await convert('--caddyfile', 'one.example.com\nreverse_proxy :9000\n', 0);
  assert.match(exported, /address: 127\.0\.0\.1:9000/);
  assert.match(exported, /one\.example\.com:443/);
  await writeFile(join(folder, 'broken'), 'a.example.com {\n');
  const { code, errors } = await GatehouseProcess.run(['import', '--caddyfile', join(folder, 'broken')]);
  assert.deepEqual([code, /"\{" is not closed/.test(errors)], [1, true], errors);
});

test('services and routes of Kong become edges, and what would let in more is a comment', async () => {
  const { written, errors, exported } = await convert(
    '--kong',
    `
_format_version: "3.0"
plugins:
  - name: prometheus
services:
  - name: shop
    url: http://shop-upstream
    plugins:
      - { name: ip-restriction, config: { allow: [10.0.0.0/8, 192.0.2.1], deny: [10.1.0.0/16] } }
    routes:
      - { name: web, hosts: [shop.example.com], paths: [/, /cart], strip_path: false }
      - { name: old, hosts: [shop.example.com], paths: [/old/] }
      - { name: posts, hosts: [shop.example.com], paths: [/posts], methods: [POST] }
      - { name: keyed, hosts: [shop.example.com], paths: [/keyed], plugins: [{ name: key-auth }] }
      - { name: pattern, hosts: [shop.example.com], paths: ["~/a.*"] }
      - { name: anywhere, paths: [/anywhere] }
  - name: api
    host: api.internal
    protocol: https
    port: 8443
routes:
  - name: api
    service: { name: api }
    hosts: ["*.api.example.com"]
    plugins:
      - { name: request-transformer, config: { add: { headers: ["x-from: kong"] }, remove: { headers: [x-old] } } }
upstreams:
  - name: shop-upstream
    targets: [{ target: "10.9.0.1:80" }, { target: "10.9.0.2:80" }]
consumers:
  - username: me
`,
  );
  assert.match(exported, /- 192\.0\.2\.1\/32/);
  assert.match(exported, /- "!10\.1\.0\.0\/16"/);
  assert.match(exported, /address: 10\.9\.0\.1:80/);
  assert.match(exported, /address: api\.internal:8443\n +tls:/);
  assert.match(exported, /x-from: kong/);
  assert.match(exported, /\*\.api\.example\.com:443/);
  assert.equal([...exported.matchAll(/ip_restriction:/g)].length, 3, exported);
  assert.match(exported, /path_rewrite:\n +strip_prefix: \/old\n/);
  assert.match(exported, /addresses:\n +- address: 10\.9\.0\.1:80\n +- address: 10\.9\.0\.2:80/);
  for (const reason of [
    'line 13: route posts of service shop: its condition methods',
    'line 14: route keyed of service shop: plugin key-auth',
    'line 15: route pattern of service shop: shop.example.com~/a.* is no plain',
    'line 16: route anywhere of service shop: it has no host',
    'line 30: section consumers',
  ]) {
    assert.ok(written.includes(`# NOT MAPPED: ${reason}`), `${reason}\n${written}`);
    assert.ok(errors.includes(`\n  ${reason}`), `${reason}\n${errors}`);
  }
  assert.doesNotMatch(exported, /posts|keyed|anywhere/);
});

test('a file of the other program is refused, with the right flag', async () => {
  const refusals = [
    ['--caddyfile', '_format_version: "3.0"\nservices: []\n', /give it with --kong/],
    ['--caddyfile', '{"apps":{"http":{}}}', /is JSON, and no Caddyfile/],
    ['--kong', 'one.example.com\n', /a Caddyfile with --caddyfile/],
  ] as const;
  for (const [flag, text, hint] of refusals) {
    await writeFile(join(folder, 'other'), text);
    const { code, out, errors } = await remoteCommands({}).end(['import', flag, join(folder, 'other')]);
    assert.deepEqual([code, out], [1, '']);
    assert.match(errors, hint);
  }
});

test('the address of the dashboard or the reference, copied from a browser, leads to its API', async () => {
  for (const page of ['/dashboard', '/dashboard/', '/dashboard/edges?sort=name', '/docs/', '/docs/#tag/edges']) {
    const variables = { GATEHOUSE_URL: server.url + page, GATEHOUSE_TOKEN: token };
    const { code, errors } = await remoteCommands(variables).end(['export']);
    assert.equal(code, 0, errors);
  }
});
