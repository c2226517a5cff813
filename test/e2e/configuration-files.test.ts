import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { remoteCommands } from '../support/command-host.ts';
import type { CommandHost } from '../support/command-host.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';

const token = 'the-token-of-both-servers-0123456789';

const files = {
  'policies.yaml': `
ip_policies:
  office:
    description: The office, with \${WORD:-words} and $\${this}
    rules: [10.0.0.0/8, "!10.1.0.0/16"]
`,
  'edges.yaml': `
static_backends:
  app: { address: "app:\${PORT}" }
https_edges:
  web:
    hostports: [shop.example.com:443]
    routes:
      /:
        backend: { backend: app }
        ip_restriction: { ip_policies: [office] }
        request_headers: { add: { x-on: "yes" } }
`,
};

describe('files between two servers', () => {
  let folder: string;
  let first: GatehouseProcess;
  let second: GatehouseProcess;
  const variables = (server: GatehouseProcess) => ({
    GATEHOUSE_URL: server.url,
    GATEHOUSE_TOKEN: token,
    PORT: '8080',
    CI: '',
  });
  const start = (server: GatehouseProcess, ...args: readonly string[]) => GatehouseProcess.run(args, variables(server));
  /** Has most of the commands in this process: each start of the program would show nothing else. */
  const hosts = new Map<GatehouseProcess, CommandHost>();
  const run = (server: GatehouseProcess, ...args: readonly string[]) => hosts.get(server)!.end(args);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    const serve = (name: string) =>
      GatehouseProcess.serve(`sqlite:${join(folder, name)}`, ['--role', 'api', '--bootstrap-token', token]);
    [first, second] = await Promise.all([serve('first.db'), serve('second.db')]);
    for (const server of [first, second]) hosts.set(server, remoteCommands(variables(server)));
  });
  after(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('what one exports, the other applies, and exports again the same', async () => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const [policies, edges] = [join(folder, 'policies.yaml'), join(folder, 'edges.yaml')];
    const applied = await start(first, 'apply', policies, edges);
    assert.equal(applied.code, 0, applied.errors);
    assert.match(applied.out, /^\+ https_edges web$/m);
    assert.match(applied.out, /Applied: 3 created, 0 changed, 0 deleted\./);
    assert.ok(!applied.out.includes('\u001b'), 'colour is for terminals');
    const exported = await start(first, 'export');
    assert.match(exported.out, /The office, with words and \$\$\{this\}/);
    assert.match(exported.out, /^# yaml-language-server: \$schema=http/);
    const file = join(folder, 'all.yml');
    assert.equal((await run(first, 'export', '-o', file)).code, 0);
    assert.equal(await readFile(file, 'utf8'), exported.out);

    const planned = await start(second, 'plan', file, '--exit-code');
    assert.equal(planned.code, 2, planned.errors);
    assert.match(planned.out, /3 to create, 0 to change, 0 to delete, 0 unchanged\./);
    assert.equal((await run(second, 'apply', file)).code, 0);
    const again = await run(second, 'plan', file, '--exit-code');
    assert.deepEqual([again.code, again.out], [0, 'No changes.\n']);
    const copy = await run(second, 'export');
    assert.equal(copy.out.replaceAll(second.url, first.url), exported.out);
  });

  test('what was is exported, compared and returned to', async () => {
    const version = async () => {
      const headers = { authorization: `Bearer ${token}`, 'service-version': '2' };
      const answer = await fetch(`${first.url}/changes?limit=1`, { headers });
      const { changes } = JSON.parse(await answer.text());
      return String(changes[0].version);
    };
    const firstExport = await run(first, 'export');
    const then = await version();
    const file = join(folder, 'more.yaml');
    await writeFile(file, 'ip_policies: { office: { rules: [10.2.0.0/16] }, home: { rules: [192.0.2.1/32] } }');
    assert.equal((await run(first, 'apply', file)).code, 0);
    const secondExport = await run(first, 'export');
    assert.equal((await run(first, 'export', '--at', then)).out, firstExport.out);
    const compared = await run(first, 'diff', then, '--exit-code');
    assert.equal(compared.code, 2, compared.errors);
    assert.match(compared.out, /^\+ ip_policies home\n {4}rules:\n {6}\+ 192\.0\.2\.1\/32$/m);
    assert.match(compared.out, /^1 created, 1 changed, 0 deleted, 2 unchanged\.$/m);
    assert.equal((await run(first, 'diff')).out, compared.out);
    assert.equal((await run(first, 'diff', await version())).out, 'No changes.\n');
    const shown = await run(first, 'return', then, '--dry-run');
    assert.match(shown.out, /^0 to create, 1 to change, 1 to delete, 2 unchanged\.$/m);
    const unasked = await start(first, 'return', then);
    assert.equal(unasked.code, 1);
    assert.match(unasked.errors, /1 would be deleted, and nobody can be asked here/);
    assert.equal((await run(first, 'export')).out, secondExport.out);
    const returned = await run(first, 'return', then, '--yes');
    assert.equal(returned.code, 0, returned.errors);
    assert.match(returned.out, new RegExp(`^Returned to version ${then}: 0 created, 1 changed, 1 deleted\\.$`, 'm'));
    assert.equal((await run(first, 'export')).out, firstExport.out);
    const unknown = await run(first, 'export', '--at', 'yesterday');
    assert.equal(unknown.code, 3);
    assert.match(unknown.errors, /"yesterday" is no moment/);
  });

  test('a plan shows what was changed elsewhere, and prune what no file declares', async () => {
    const file = join(folder, 'drift.yaml');
    await writeFile(file, 'static_backends:\n  drifting: { address: a:1 }\n');
    assert.equal((await run(second, 'apply', file)).code, 0);
    const { backends } = (await (await second.call('GET', '/backends/static', token)).json()) as {
      backends: { id: string; address: string }[];
    };
    const id = backends.find(({ address }) => address === 'a:1')?.id;
    await second.call('PATCH', `/backends/static/${id}`, token, { address: 'b:1' });
    const planned = await run(second, 'plan', file);
    assert.match(planned.out, /^~ static_backends drifting\n {4}~ address: b:1 → a:1$/m);
    assert.match((await run(second, 'plan', file, '--prune')).out, /^- https_edges web$/m);
  });

  test('faults name the file and the line, and end with their code', async () => {
    const file = join(folder, 'bad.yaml');
    const cases = [
      ['static_backends:\n  app:\n    address: [', 1, /bad\.yaml:\d: /],
      ['static_backends:\n  one: { address: a:1 }\n  one: { address: a:2 }', 1, /bad\.yaml:3: "one" .*bad\.yaml:2/],
      [
        'static_backends:\n  one: { address: a:1 }\ntunnel_group_backends:\n  one: { labels: {a: b} }',
        1,
        /bad\.yaml:4: .*bad\.yaml:2/,
      ],
      ['static_backends:\n  one: { address: "${NOWHERE}" }', 1, /bad\.yaml:2: the variable NOWHERE is not set/],
      ['\nstatic_backends:\n  one: { address: a:1, adress: a:1 }', 3, /bad\.yaml:3: .*adress/],
      ['backends:\n  one: { address: a:1 }', 3, /bad\.yaml:2: .*backends/],
      [
        'ip_policys:\n  one: {}\nstatic_backends:\n  two: { adress: a:1 }',
        3,
        /bad\.yaml:2: .*did you mean "ip_policies"\?.*\n.*bad\.yaml:4: .*Did you mean "address"/,
      ],
      [
        'static_backends:\n  one: { address: "${NOWHERE}" }\n  two: 7\nip_policies: []',
        1,
        /bad\.yaml:2: .*NOWHERE.*\n.*bad\.yaml:3: .*\n.*bad\.yaml:4: /,
      ],
      ['static_backends:\0', 1, /bad\.yaml is no text/],
      ['tcp_edges:\n  one: { backend: { backend: none } }', 3, /bad\.yaml:2: .*no backend with the name "none"/],
    ] as const;
    const commands = remoteCommands(variables(second));
    for (const [text, code, words] of cases) {
      await writeFile(file, text);
      const ended = await commands.end(['apply', file]);
      assert.equal(ended.code, code, ended.errors);
      assert.match(ended.errors, words);
    }
    const refused = await GatehouseProcess.run(['plan', file], { GATEHOUSE_URL: second.url });
    assert.deepEqual([refused.code, /GATEHOUSE_TOKEN/.test(refused.errors)], [1, true]);
    const stranger = await GatehouseProcess.run(['export', '--url', second.url, '--token', 'nobody'], {});
    assert.equal(stranger.code, 3, stranger.errors);
  });

  test('apply --watch follows the files, and goes on after a fault', { timeout: 120_000 }, async () => {
    const watched = join(folder, 'watched.yaml');
    await writeFile(watched, 'static_backends:\n  w: { address: a:10 }\n');
    await using running = new GatehouseProcess(['apply', '--watch', watched], variables(second));
    await running.printed(/Applied: (1) created/);
    await writeFile(watched, 'static_backends:\n  w: { address: a:11');
    await running.printed(/not applied: (\S+watched\.yaml:\d+)/);
    await writeFile(watched, 'static_backends:\n  w: { address: a:12 }\n');
    await running.printed(/Applied: 0 created, (1) changed/);
    const { code } = await running.stop('SIGTERM');
    assert.equal(code, 0);
  });
});
