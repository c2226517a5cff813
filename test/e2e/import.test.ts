import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { portOf } from '../gateway/support/https-upstream.ts';
import { freePort } from '../support/free-port.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { isLong } from '../support/long-form.ts';
import { newSqlite, scratchFolder } from '../support/scratch.ts';
import { until } from './gateway/support/until.ts';

const token = 'the-token-of-both-servers-0123456789';
const limitMs = 200_000;
/** Numbers of what is imported. */
const counts = isLong ? { rules: 200, backends: 380, edges: 300 } : { rules: 8, backends: 20, edges: 15 };
const atLeast = 20 * counts.rules + counts.backends + 2 * counts.edges;

type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

const lists = {
  '/bot_users': 'bot_users',
  '/ip_policies': 'ip_policies',
  '/ip_policy_rules': 'ip_policy_rules',
  '/ip_restrictions': 'ip_restrictions',
  '/backends/static': 'backends',
  '/backends/tunnel_group': 'backends',
  '/reserved_domains': 'reserved_domains',
  '/edges/tcp': 'tcp_edges',
  '/edges/tls': 'tls_edges',
  '/edges/https': 'https_edges',
} as const;

function serve(databaseUrl: string, ...more: readonly string[]): Promise<GatehouseProcess> {
  return GatehouseProcess.serve(databaseUrl, ['--role', 'api', '--bootstrap-token', token, ...more]);
}

/** Everything that a server shows, without what names the server itself. */
async function everything(server: GatehouseProcess): Promise<Readonly<Record<string, readonly Shown[]>>> {
  const found: Record<string, readonly Shown[]> = {};
  for (const [path, key] of Object.entries(lists)) {
    const all: Shown[] = [];
    for (let next: string | undefined = `${path}?limit=100`; next !== undefined;) {
      const text = await (await server.call('GET', next, token)).text();
      // The test is about what the server shows.
      const page = JSON.parse(text.replaceAll(server.url, '')) as Record<string, Shown[]> & { next_page_uri?: string };
      all.push(...(page[key] ?? []));
      next = page.next_page_uri ?? undefined;
    }
    found[path] = all;
  }
  return found;
}

async function must(server: GatehouseProcess, path: string, body: unknown): Promise<Shown> {
  const answer = await server.call('POST', path, token, body);
  const shown = (await answer.json()) as Shown;
  assert.ok(answer.ok, JSON.stringify(shown));
  return shown;
}

/** Objects of every kind that can be taken, with names of their own. */
async function fill(server: GatehouseProcess): Promise<void> {
  const many = (count: number, make: (at: number) => object) => Array.from({ length: count }, (_, at) => make(at));
  await must(server, '/configuration', [
    ...many(20, (at) => ({
      kind: 'ip_policies',
      name: `policy-${at}`,
      description: `policy ${at}`,
      metadata: '{"a": 1}',
      rules: many(counts.rules, (rule) => ({ cidr: `10.${at}.${rule}.0/24`, description: `rule ${rule}` })),
    })),
    ...many(counts.backends, (at) => ({
      kind: 'static_backends',
      name: `backend-${at}`,
      address: `app-${at}:80`,
      tls: { enabled: at % 2 === 0 },
    })),
    { kind: 'tunnel_group_backends', name: 'agents', labels: { app: 'shop' } },
    { kind: 'tcp_edges', name: 'tcp', hostports: ['tcp.example.com:10022'], backend: { backend: 'agents' } },
    {
      kind: 'tls_edges',
      name: 'tls',
      hostports: ['tls.example.com:443'],
      tls_termination: { terminate_at: 'upstream' },
    },
    ...many(counts.edges, (at) => ({
      kind: 'https_edges',
      name: `edge-${at}`,
      hostports: [`edge-${at}.example.com:443`],
      routes: {
        '/': {
          backend: { backend: `backend-${at}` },
          ip_restriction: { ip_policies: [`policy-${at % 20}`], enabled: at % 3 > 0 },
          request_headers: { add: { 'x-edge': String(at) }, remove: ['x-old'] },
        },
      },
    })),
    {
      kind: 'ip_restrictions',
      name: 'endpoints',
      type: 'endpoints',
      enforced: true,
      ip_policies: ['policy-1', 'policy-0'],
    },
    { kind: 'reserved_domains', name: 'reserved', domain: 'reserved.example.com' },
  ]);
  await must(server, '/bot_users', { name: 'deploys', active: false });
}

onAnyDatabase('import into a server on', (newDatabase) => {
  const folder = scratchFolder();

  test(
    `${atLeast} objects past a rate limit, interrupted twice, end equal, with their ids`,
    { timeout: limitMs * 2 },
    async () => {
      const database = newSqlite();
      const first = await serve(database);
      await fill(first);
      const wanted = await everything(first);
      await first.stop('SIGTERM');
      const objects = Object.values(wanted).flat();
      assert.ok(objects.length + (wanted['/edges/https']?.length ?? 0) >= atLeast, `${objects.length}`);

      const metrics = `127.0.0.1:${await freePort()}`;
      await using source = await serve(database, '--rate-limit', '10', '--metrics-listen', metrics);
      await using target = await serve(await newDatabase());
      const state = join(folder, 'state.jsonl');
      const variables = { GATEHOUSE_URL: target.url, GATEHOUSE_TOKEN: token, GATEHOUSE_FROM_TOKEN: token };
      const words = ['import', '--from', source.url, '--state', state];
      const count = async () => {
        const page = await (await target.call('GET', '/ip_policy_rules?limit=100', token)).json();
        return (page as { ip_policy_rules: readonly unknown[] }).ip_policy_rules.length;
      };
      const linesOf = () => (existsSync(state) ? readFileSync(state, 'utf8').split('\n').length : 0);
      const interrupt = async (isTime: () => boolean | Promise<boolean>) => {
        await using running = new GatehouseProcess(words, variables);
        await until(isTime, () => `time to interrupt: ${running.out}`, limitMs);
        assert.equal((await running.stop('SIGKILL')).code, null, 'it was still running');
      };
      await interrupt(() => linesOf() > 10);
      assert.equal(await count(), 0, 'nothing is written before everything is read');
      const before = linesOf();
      await interrupt(async () => (await count()) >= 100);
      assert.ok(linesOf() > before, 'what was read is kept');
      const counted = await (await fetch(`http://${metrics}/metrics`)).text();
      assert.match(counted, /^gatehouse_api_calls_refused_total\{[^}]*rate_limited[^}]*\} [1-9]/m, 'the limit bites');

      const done = await GatehouseProcess.run(words, variables);
      assert.equal(done.code, 0, done.errors);
      assert.match(done.out, /^\d+ were here already, by their ids, and are left as they are\.$/m);
      assert.match(done.out, /^ {2}1 API keys: their tokens cannot be read; /m);
      assert.deepEqual(await everything(target), wanted);
      assert.equal(existsSync(state), false);
    },
  );

  test('what the hosted service has and this server has not is reported, and never opens a route', async () => {
    await using hosted = await startHosted();
    await using target = await serve(await newDatabase());
    const variables = { GATEHOUSE_URL: target.url, GATEHOUSE_TOKEN: token, GATEHOUSE_FROM_TOKEN: 'of-the-hosted' };
    const words = ['import', '--from', hosted.url, '--vendor', 'acme', '--state', join(folder, 'hosted.jsonl')];
    const done = await GatehouseProcess.run(words, variables);
    assert.equal(done.code, 6, done.errors);
    assert.match(done.out, /HTTPS edge routes: edghtsrt_\w+ \(\/admin\): saml is not offered here/);
    assert.match(done.out, /HTTPS edges: edghts_\w+2 \(mutual\): /);
    assert.match(
      done.out,
      /reserved domains: rd_\w+ \(shop\.example\.com\): certificate_id names something that was not taken/,
    );
    assert.match(done.out, /1 TLS certificates: their private keys cannot be read/);
    const { '/edges/https': edges = [], '/reserved_domains': domains = [] } = await everything(target);
    assert.deepEqual(
      edges.map(({ id, routes }) => [id, (routes as readonly Shown[]).map(({ match }) => match)]),
      [[ids.edge, ['/']]],
    );
    assert.deepEqual(
      domains.map(({ id }) => id),
      [ids.domain],
    );
  });

  test('a wrong call says what is missing', async () => {
    const to = { GATEHOUSE_URL: 'http://127.0.0.1:1', GATEHOUSE_TOKEN: token };
    for (const [words, variables, expected] of [
      [[], to, /give one of --from, --caddyfile and --kong/],
      [['--from', 'ftp://a'], { ...to, GATEHOUSE_FROM_TOKEN: 'a' }, /"ftp:\/\/a" is not the URL of an API/],
      [['--from', 'http://127.0.0.1:2'], to, /GATEHOUSE_FROM_TOKEN/],
      [['--from', 'http://127.0.0.1:1/'], { ...to, GATEHOUSE_FROM_TOKEN: 'a' }, /the same server/],
    ] as const) {
      const { code, errors } = await GatehouseProcess.run(['import', ...words], { ...variables });
      assert.deepEqual([code, expected.test(errors)], [1, true], errors);
    }
  });
});

const ids = {
  edge: 'edghts_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
  domain: 'rd_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
};

/** A server with the paths, the version header and the rate limit of the hosted service, and resources that only it has. */
async function startHosted(): Promise<AsyncDisposable & { readonly url: string }> {
  const backend = { enabled: true, backend: { id: 'bkdsc_2tQzYDLwIVU45s8sSMNpRfQp1Ng', uri: '' } };
  const route = { edge_id: ids.edge, match_type: 'path_prefix', uri: '', backend, saml: null };
  const answers: Readonly<Record<string, object>> = {
    '/backends/static': {
      backends: [{ id: 'bkdsc_2tQzYDLwIVU45s8sSMNpRfQp1Ng', address: 'app:80', tls: { enabled: false } }],
    },
    '/edges/https': {
      https_edges: [
        { id: 'edghts_2tQzYDLwIVU45s8sSMNpRfQp1N2', description: 'mutual', mutual_tls: { enabled: true }, routes: [] },
        {
          id: ids.edge,
          hostports: ['shop.example.com:443'],
          tls_termination: null,
          routes: [
            { ...route, id: 'edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1Ng', match: '/', saml: { enabled: false } },
            { ...route, id: 'edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1N1', match: '/admin', saml: { enabled: true } },
          ],
        },
      ],
    },
    '/reserved_domains': {
      reserved_domains: [
        {
          id: ids.domain,
          domain: 'shop.example.com',
          region: 'us',
          cname_target: 'x.example.net',
          certificate: { id: 'cert_2tQzYDLwIVU45s8sSMNpRfQp1Ng', uri: '' },
          certificate_management_policy: { authority: 'letsencrypt' },
        },
      ],
    },
    '/tls_certificates': { tls_certificates: [{ id: 'cert_2tQzYDLwIVU45s8sSMNpRfQp1Ng' }] },
  };
  let calls = 0;
  const server = createServer(({ url = '', headers }, response) => {
    const answer = answers[url.split('?', 1)[0] ?? ''];
    const isKnown = headers['acme-version'] === '2' && headers.authorization === 'Bearer of-the-hosted';
    const status = !isKnown ? 400 : ++calls === 2 ? 429 : answer === undefined ? 404 : 200;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
    response.end(JSON.stringify(status === 200 ? { ...answer, next_page_uri: null } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
