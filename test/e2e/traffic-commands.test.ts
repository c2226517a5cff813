import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { remoteCommands } from '../support/command-host.ts';
import type { CommandHost } from '../support/command-host.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { freePort } from '../support/free-port.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { rounds } from '../support/long-form.ts';

const many = rounds(20_000, 100_000);
const token = 'the-token-of-the-traffic-0123456789abcdef';

onAnyDatabase('commands about traffic', (newDatabase) => {
  let server: GatehouseProcess;
  let folder: string;
  let port: number;
  const env = () => ({ GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: token, HOME: folder });
  let commands: CommandHost;
  const run = (...args: readonly string[]) => commands.end(args);
  const create = async (path: string, body: object = {}) => {
    const response = await server.call('POST', path, token, body);
    assert.equal(response.status, 201, path);
    return (await response.json()) as { readonly id: string };
  };
  const rulesFile = async (text: string) => {
    const file = join(folder, 'rules.txt');
    await writeFile(file, text);
    return file;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    port = await freePort();
    const settings = ['--tcp-ports', `${port}-${port}`, '--bootstrap-token', token];
    server = await GatehouseProcess.serve(await newDatabase(), settings);
    commands = remoteCommands(env());
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('rules load shows what it adds and removes, then replaces all at once', async () => {
    const { id } = await create('/ip_policies');
    const first = await run(
      'rules',
      'load',
      id,
      await rulesFile('10.0.0.0/8 # office\n\n!10.1.0.0/16\n2001:DB8::/32\n'),
    );
    assert.equal(first.code, 0, first.errors);
    assert.match(first.out, /^\+ deny 10\.1\.0\.0\/16 \(line 3\)$/m);
    assert.match(first.out, /3 to add, 0 to remove, 0 kept\.\nLoaded: 3 added, 0 removed, 0 kept\.\n$/);
    const file = await rulesFile('2001:db8:0::/32\r\n10.1.0.0/16\n192.0.2.0/24\n');
    const dry = await run('rules', 'load', id, file, '--dry-run');
    assert.match(dry.out, /^- allow 10\.0\.0\.0\/8$/m);
    assert.match(dry.out, /^2 to add, 2 to remove, 1 kept\.\n$/m);
    assert.doesNotMatch(dry.out, /Loaded/);
    assert.match((await run('rules', 'load', id, file)).out, /Loaded: 2 added, 2 removed, 1 kept\./);
    assert.equal((await run('rules', 'load', id, file)).out, '0 to add, 0 to remove, 3 kept.\n');
  });

  test('a file with faults names every line of them, and changes nothing', async () => {
    const { id } = await create('/ip_policies');
    const bad = await rulesFile('10.0.0.0/8\n10.0.0.1/8\nhello\n10.0.0.0/8\n192.0.2.7\n');
    const refused = await run('rules', 'load', id, bad);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    for (const words of [
      /^line 2: .*10\.0\.0\.0\/8\?$/m,
      /^line 3: "hello"/m,
      /^line 4: .*line 1/m,
      /^line 5: .*\/32\?$/m,
    ])
      assert.match(refused.errors, words);
    assert.match(refused.errors, /has 4 lines that are no rules/);
    const empty = await run('rules', 'load', id, await rulesFile('# nothing\n'));
    assert.deepEqual([empty.code, /--allow-empty/.test(empty.errors)], [1, true]);
    const listed = await run('ip-policies', 'rules', 'list', id);
    assert.deepEqual(JSON.parse(listed.out), []);
  });

  test(`${many} lines are loaded in one call`, { timeout: 240_000 }, async () => {
    const { id } = await create('/ip_policies');
    const lines = Array.from({ length: many }, (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}/32`);
    const file = await rulesFile(lines.join('\n'));
    const loaded = await run('rules', 'load', id, file, '--yes');
    assert.equal(loaded.code, 0, loaded.errors);
    assert.match(
      loaded.out,
      new RegExp(`… and ${many - 20} more\\n${many} to add, 0 to remove, 0 kept\\.\\nLoaded: ${many} added`),
    );
    assert.equal((await run('rules', 'load', id, file)).out, `0 to add, 0 to remove, ${many} kept.\n`);
  });

  test('check-ip explains as the API does', async () => {
    const policy = await create('/ip_policies');
    await create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '203.0.113.0/24', action: 'allow' });
    const restriction = { type: 'endpoints', enforced: true, ip_policy_ids: [policy.id] };
    const { id } = await create('/ip_restrictions', restriction);
    const asked = await server.call('POST', '/ip_check', token, { ip: '192.0.2.1', type: 'endpoints' });
    const answered = await run('check-ip', '192.0.2.1', '--type', 'endpoints', '--exit-code');
    assert.deepEqual([answered.code, JSON.parse(answered.out)], [2, await asked.json()]);
    const all = await run('check-ip', '192.0.2.1', '--output', 'table');
    assert.equal(all.code, 0, all.errors);
    assert.match(all.out, /^api: 192\.0\.2\.1 is allowed\./m);
    assert.match(
      all.out,
      new RegExp(`^endpoints: 192\\.0\\.2\\.1 is refused\\..*\\n  refuses ip_restriction ${id}: no rule`, 'm'),
    );
    assert.equal((await run('check-ip', '203.0.113.9', '--type', 'endpoints', '--exit-code')).code, 0);
    assert.equal((await run('check-ip', 'nonsense')).code, 3);
    assert.equal((await run('check-ip', '192.0.2.1', '--type', 'api', '--edge', 'e')).code, 1);
    const edge = await create('/edges/https', { hostports: ['check.example.com:443'] });
    const password = { basic_auth: { credentials: [{ username: 'ada', password: 'long enough' }] } };
    const route = { match_type: 'path_prefix', match: '/admin', ...password };
    const { id: routeId } = await create(`/edges/https/${edge.id}/routes`, route);
    const ofEdge = await run('check-ip', '203.0.113.9', '--edge', edge.id, '--output', 'table');
    assert.match(ofEdge.out, /is allowed, but more is asked for\. .*needs a password \(basic_auth\)\.\n/);
    assert.match(ofEdge.out, /^ {2}\/admin: allowed, but more is asked for\./m);
    const both = await run('check-ip', '203.0.113.9', '--edge', edge.id, '--route', routeId);
    assert.deepEqual([both.code, JSON.parse(both.out).routes], [0, null]);
    assert.equal((await server.call('DELETE', `/ip_restrictions/${id}`, token)).status, 204);
  });

  test('policy check knows the region of the gateway if it is told', async () => {
    const file = await rulesFile(
      "on_http_request:\n  - expressions: [conn.server_region == 'local']\n    actions: [{ type: deny }]\n",
    );
    const visit = ['--visit', 'https://shop.example.com/', '--ip', '203.0.113.7', '--query', 'verdict'];
    const verdict = async (...more: readonly string[]) => (await run('policy', 'check', file, ...visit, ...more)).out;
    assert.match(await verdict(), /depends/);
    assert.match(await verdict('--region', 'local'), /refuses/);
    assert.match(await verdict('--region', 'eu'), /passes/);
  });

  test('policy check tells the place of a fault, and what becomes of a request', async () => {
    const file = await rulesFile(
      "on_http_request:\n  - name: writers\n    expressions: [req.method == 'PUT']\n    actions: [{ type: deny }]\n",
    );
    const valid = await run('policy', 'check', file, '--output', 'table');
    assert.deepEqual([valid.code, valid.out], [0, 'valid: The policy is acceptable.\n'], valid.errors);
    const visit = [
      '--visit',
      'https://shop.example.com/cart',
      '--ip',
      '203.0.113.7',
      '--output',
      'table',
      '--exit-code',
    ];
    const passed = await run('policy', 'check', file, ...visit, '--header', 'X-Team: blue');
    assert.equal(passed.code, 0, passed.errors);
    assert.match(
      passed.out,
      /^on_http_request\[0\] "writers": does not match\n {2}false: req\.method == 'PUT'\npasses: /,
    );
    assert.match(
      passed.out,
      /^Upstream: https:\/\/shop\.example\.com\/cart\n {2}host: shop\.example\.com\n {2}X-Team: blue\n$/m,
    );
    const denied = await run('policy', 'check', file, ...visit, '--method', 'PUT');
    assert.equal(denied.code, 2, denied.errors);
    assert.match(denied.out, /^refuses: on_http_request\[0\]\.actions\[0\] \(deny\) refuses it with 403\.$/m);
    assert.equal((await run('policy', 'check', file, '--method', 'PUT')).code, 1);
    const faulty = await rulesFile('on_http_request:\n  - actions: [{ type: denny }]\n');
    const refused = await run('policy', 'check', faulty);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.errors, /rules\.txt:2:15: .*did you mean deny\?/);
  });

  test('tail of an edge that is none says so, and ends', async () => {
    const wrong = await run('tail', '--edge', 'nope');
    assert.deepEqual([wrong.code, wrong.out], [1, '']);
    assert.match(wrong.errors, /"nope" is not the id of an edge.*gatehouse edges https list/);
    const gone = await run('tail', '--edge', `edghts_${'0'.repeat(27)}`);
    assert.equal(gone.code, 3, gone.errors);
  });

  test('tail follows traffic, and says what was refused by which rule', async () => {
    const policy = await create('/ip_policies');
    await create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '127.0.0.0/8', action: 'deny' });
    const edge = await create('/edges/tcp', {
      hostports: [`localhost:${port}`],
      ip_restriction: { ip_policy_ids: [policy.id] },
    });
    await using tail = new GatehouseProcess(['tail', '--verdict', 'refused', '--edge', edge.id], env());
    await tail.complained(/^(Following) traffic/m);
    const knocking = setInterval(
      () =>
        connect(port, '127.0.0.1')
          .on('error', () => {})
          .resume(),
      200,
    );
    try {
      const line = await tail.printed(/^(.*refused.*)$/m);
      assert.match(
        line,
        new RegExp(`^\\S+Z  refused  127\\.0\\.0\\.1  closed connection to :${port} .*rule deny 127\\.0\\.0\\.0/8`),
      );
    } finally {
      clearInterval(knocking);
    }
    assert.equal((await tail.stop('SIGINT')).code, 0);
    const { out } = await run('edges', 'tcp', 'list', '-o', 'table');
    assert.match(out, /^ID +CREATED AT +HOSTPORTS .*STATE\n/);
    assert.match(out, new RegExp(`^${edge.id} .* no requests$`, 'm'), 'all were refused');
  });
});
