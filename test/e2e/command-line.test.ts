import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { parse } from 'yaml';

import { remoteCommands } from '../support/command-host.ts';
import type { CommandHost } from '../support/command-host.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import type { Ended } from '../support/gatehouse-process.ts';

const token = 'the-token-of-the-command-line-0123456789';

onAnyDatabase('the command line', (newDatabase) => {
  let server: GatehouseProcess;
  let folder: string;
  const env = () => ({ GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: token, HOME: folder });
  const start = (...args: readonly string[]) => GatehouseProcess.run(args, env());
  const started = async (...args: readonly string[]) => outOf(await start(...args));
  /** Has most of the commands in this process: thirty starts of the program would show nothing else. */
  let commands: CommandHost;
  const run = (...args: readonly string[]) => commands.end(args);
  const done = async (...args: readonly string[]) => outOf(await run(...args));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    server = await GatehouseProcess.serve(await newDatabase(), ['--role', 'api', '--bootstrap-token', token]);
    commands = remoteCommands(env());
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('a resource is created, read, changed and deleted', async () => {
    const id = (await started('ip-policies', 'create', '--description', 'one', '--query', 'id')).trim();
    assert.match(id, /^ipp_\w{27}$/);
    const got = await start('ip-policies', 'get', id, '--show-etag');
    assert.equal(JSON.parse(got.out).description, 'one', 'JSON where no terminal is');
    const etag = /^ETag: (.*)$/m.exec(got.errors)?.[1] ?? '';
    assert.equal(parse(await started('ip-policies', 'get', id, '-o', 'yaml')).id, id);
    await started('ip-policies', 'update', id, '--description=two', '--if-match', etag);
    const late = await start('ip-policies', 'update', id, '--description', 'three', '--if-match', etag);
    assert.equal(late.code, 3, late.errors);
    assert.match(late.errors, /\(ERR_GATEHOUSE_20020, op_\w+\)\n$/);
    const table = (await started('ip-policies', 'list', '-o', 'table')).split('\n');
    assert.match(table[0] ?? '', /^ID +CREATED AT +DESCRIPTION$/);
    assert.ok(table.some((line) => line.startsWith(`${id}  `) && line.endsWith('  two')));
    assert.equal(await started('ip-policies', 'delete', id), '');
    const gone = await start('ip-policies', 'get', id);
    assert.deepEqual([gone.code, gone.out], [3, '']);
    assert.match(gone.errors, /There is no IP policy with the id .*ERR_GATEHOUSE_222, op_/);
  });

  test('a person is invited, accepts without a token, and is deactivated', async () => {
    const link = (await done('invitations', 'create', '--name', 'Marta', '--role', 'viewer', '--query', 'link')).trim();
    const accept = ['invitations', 'accept', '--link', link, '--query', 'token', '--url', server.url];
    const nobody = remoteCommands({ HOME: folder });
    const accepted = await nobody.end(accept);
    assert.equal(accepted.code, 0, accepted.errors);
    const again = await nobody.end(accept);
    assert.deepEqual([again.code, again.out], [3, '']);
    assert.match(again.errors, /Ask an admin for a new one/);
    const asMarta = remoteCommands({ ...env(), GATEHOUSE_TOKEN: accepted.out.trim() });
    const refused = await asMarta.end(['ip-policies', 'create']);
    assert.match(refused.errors, /A viewer may only read/);
    const [marta] = JSON.parse(await done('users', 'list', '--filter', 'obj.name == "Marta"'));
    await done('users', 'update', marta.id, '--active', 'false');
    const out = await asMarta.end(['users', 'list']);
    assert.equal(out.code, 3);
    assert.match(out.errors, /is inactive/);
  });

  test('edges, routes and modules are set up by flags or by a body', async () => {
    const edge = (await done('edges', 'https', 'create', '--hostport', 'app.example.com:443', '--query', 'id')).trim();
    const file = join(folder, 'route.yaml');
    await writeFile(file, 'match_type: path_prefix\nmatch: /from-file\ndescription: kept\n');
    const create = ['edges', 'https', 'routes', 'create', edge, '--body', file, '--match', '/shop'];
    const headers = ['--request-headers.add', 'x-a=1', '--request-headers.add', 'x-b=2=3', '--request-headers.remove'];
    const route = JSON.parse(await done(...create, ...headers, 'x-c', '--compression.enabled'));
    assert.deepEqual(
      [route.match, route.description, route.compression, route.request_headers],
      ['/shop', 'kept', { enabled: true }, { enabled: true, add: { 'x-a': '1', 'x-b': '2=3' }, remove: ['x-c'] }],
    );
    const policy = (await done('ip-policies', 'create', '--query', 'id')).trim();
    const module = ['edges', 'https', 'routes', 'ip-restriction'];
    await done(...module, 'set', edge, route.id, '--ip-policy-id', policy, '--enabled', 'false');
    const query = 'ip_policies[*].id';
    assert.equal(await done(...module, 'get', edge, route.id, '--query', query), `${policy}\n`);
    assert.equal(await done(...module, 'get', edge, route.id, '--query', 'enabled'), 'false\n');
  });

  test('a list has all pages, or as many entries as are asked for', async () => {
    for (let made = 0; made < 130; made++) {
      const { status } = await server.call('POST', '/bot_users', token, { name: `bot ${made}` });
      assert.equal(status, 201);
    }
    assert.equal(JSON.parse(await done('bot-users', 'list')).length, 130);
    assert.equal(
      (await done('bot-users', 'list', '--limit', '103', '--query', '[*].id')).trim().split('\n').length,
      103,
    );
    const [newest] = JSON.parse(await done('bot-users', 'list', '--limit', '1'));
    assert.equal(newest.name, 'bot 129');
  });

  test('--filter, --before-id and --limit choose the entries of a list', async () => {
    const ids: string[] = [];
    const policy = (await done('ip-policies', 'create', '--query', 'id')).trim();
    const create = ['ip-restrictions', 'create', '--type', 'endpoints', '--ip-policy-id', policy, '--query', 'id'];
    for (const description of ['shop', 'shop', 'other', 'shop'])
      ids.unshift((await done(...create, '--description', description)).trim());
    const list = async (...flags: readonly string[]) =>
      (await done('ip-restrictions', 'list', '--query', '[*].id', ...flags)).trim().split('\n');
    const [newest = '', , second = '', first = ''] = ids;
    const filter = ['--filter', 'obj.description == "shop"'];
    assert.deepEqual(await list(...filter), [newest, second, first]);
    assert.deepEqual(await list(...filter, '--before-id', newest), [second, first]);
    assert.deepEqual(await list(...filter, '--before-id', newest, '--limit', '1'), [second]);
    assert.deepEqual(await list('--before-id', second), [first]);
    const refused = await run('ip-restrictions', 'list', '--filter', 'obj.nothing == 1');
    assert.equal(refused.code, 3, refused.errors);
    assert.match(refused.errors, /nothing/);
  });

  test('--watch shows what has changed, until it is stopped', async () => {
    const id = (await done('ip-policies', 'create', '--description', 'before', '--query', 'id')).trim();
    const args = ['ip-policies', 'get', id, '--watch', '0.1', '--query', 'description'];
    await using watching = new GatehouseProcess(args, env());
    await watching.printed(/^(before)$/m);
    await server.call('PATCH', `/ip_policies/${id}`, token, { description: 'after' });
    await watching.printed(/^(after)$/m);
    const { code, out } = await watching.stop('SIGINT');
    assert.deepEqual([code, out], [0, 'before\nafter\n']);
  });

  test('wrong calls end with 1 before anything is sent, a dead server with 4', async () => {
    const cases = [
      [['edges', 'https', 'create', '--hostprt', 'a:443'], /unknown option '--hostprt'/],
      [['ip-policies', 'list', '--limit', '0'], /--limit takes a number from 1/],
      [['edges', 'tcp', 'rate-limit', 'replace', 'a'], /\(Did you mean "gatehouse edges tcp rate-limit set"\?\)/],
      [
        ['backends', 'static', 'health', 'bkdsc_1'],
        /\(Did you mean "gatehouse backends static health get bkdsc_1"\?\)/,
      ],
      [['edge', 'https', 'list'], /\(Did you mean "gatehouse edges"\?\)/],
      [['backends', 'http-response', 'create', '--body', 'Back soon'], /the field "body" is --field\.body/],
      [['ip-policies', 'list', '--query', 'a..b'], /--query cannot be read/],
      [['api-keys', 'rotate', 'ak_1', '--overlap-seconds', 'x'], /--overlap-seconds takes a whole number/],
      [['ip-restrictions', 'create', '--type', 'apis'], /--type takes one of .*not "apis"/],
      [['edges', 'https', 'routes', 'get', 'edghts_1'], /missing required argument 'ID'/],
      [['ip-policies', 'create', '--description', '@/nowhere/at-all'], /nowhere\/at-all cannot be read/],
      [['ip-policies', 'create', '--body', '/nowhere/at-all'], /nowhere\/at-all cannot be read: ENOENT/],
    ] as const;
    for (const [args, words] of cases) {
      const { code, out, errors } = await run(...args);
      assert.deepEqual([code, out], [1, ''], `${args.join(' ')}: ${errors}`);
      assert.match(errors, words);
    }
    const dead = await start('healthz', 'get', '--url', 'http://127.0.0.1:1');
    assert.equal(dead.code, 4, dead.errors);
    const [first, last] = dead.errors.trim().split('\n');
    assert.deepEqual([first, dead.errors.match(/trying again/g)?.length], [`${last}; trying again`, 1]);
  });

  test('help takes all words of a command, and says which one was meant', async () => {
    const shown = await start('help', 'edges', 'tcp', 'rate-limit', 'set');
    assert.equal(shown.code, 0, shown.errors);
    assert.match(shown.out, /^Usage: gatehouse edges tcp rate-limit set \[options\] <ID>\n/);
    assert.match(shown.out, /^ +--limit <number> /m);
    const wrong = await start('help', 'edges', 'tpc');
    assert.deepEqual([wrong.code, wrong.out], [1, '']);
    assert.match(wrong.errors, /^error: unknown command 'tpc'\n\(Did you mean "gatehouse edges tcp"\?\)/);
  });

  test('a table names owners, and JSON has their ids', async () => {
    const { id } = JSON.parse(await done('bot-users', 'create', '--name', 'the pipeline'));
    await done('api-keys', 'create', '--owner-id', id);
    assert.match(await done('api-keys', 'list', '-o', 'table'), / the pipeline\b/);
    assert.match(await done('api-keys', 'list', '-o', 'json'), new RegExp(`"owner_id": "${id}"`));
    assert.match(await done('changes', 'list', '-o', 'table', '--limit', '3'), /^ID .* ACTOR .*\n.* admin /);
  });

  test('--query that finds nothing says so on standard error, and flags of a server may stand before the command', async () => {
    await run('ip-policies', 'create');
    const { code, out, errors } = await run('--query=[*].nope', 'ip-policies', 'list');
    assert.equal(code, 0, errors);
    assert.match(out, /^\n+$/);
    assert.match(errors, /^--query \[\*\]\.nope finds nothing: there is no "nope"; there are id, uri, /);
    const none = await run('--profile', 'nowhere', 'ip-policies', 'list');
    assert.match(none.errors, /^--profile nowhere names a server, and /);
  });
});

function outOf({ code, out, errors }: Ended): string {
  assert.equal(code, 0, errors);
  return out;
}
