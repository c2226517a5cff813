import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { CommandHost, remoteCommands } from '../test/support/command-host.ts';
import { onEachDatabase } from '../test/support/each-database.ts';
import { GatehouseProcess } from '../test/support/gatehouse-process.ts';
import type { Ended } from '../test/support/gatehouse-process.ts';
import { fillNewSqlite } from '../test/support/migrated-sqlite.ts';
import { bareEnvironment, programFile } from '../test/support/program-file.ts';
import packageJson from '../package.json' with { type: 'json' };
import { addAgentCommands } from './command-line/agent-commands.ts';
import { addDatabaseCommand, addResourceCommand } from './command-line/host-commands.ts';
import { addHelp } from './command-line/program.ts';
import { addServe } from './command-line/serve.ts';
import { describeSettings } from './config/config.ts';
import { databaseCommands } from './host-commands/index.ts';
import { resources } from './resources/index.ts';

/** The commands of the program, in this process: where many are run, each start would show nothing else. */
function commands(): CommandHost {
  const host = remoteCommands({});
  host.add(addServe);
  host.add((program, process) => {
    addAgentCommands(program, packageJson.version, process);
    for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands))
      addResourceCommand(program, command, process);
    for (const command of databaseCommands) addDatabaseCommand(program, command, process);
    addHelp(program);
  });
  return host;
}

const chosenToken = 'chosen-by-the-operator-0123456789-abcdef';

onEachDatabase('the program', (_newDatabase, newEmpty) => {
  test('prints a token and the command that takes it at its first start only, and loses no 2xx to kill -9', async () => {
    const url = await newEmpty();
    let token = '';
    const answered: string[] = [];
    {
      await using first = await GatehouseProcess.serve(url);
      token = await first.printed(/^ {2}(\w{27}_\w{43})$/m);
      const command = await first.printed(/^ {2}(?:npx )?gatehouse (login --url \S+)$/m);
      const home = await mkdtemp(join(tmpdir(), 'gatehouse-'));
      const env = { ...bareEnvironment, HOME: home };
      const signedIn = spawnSync(process.execPath, [programFile, ...command.split(' ')], { input: token, env });
      assert.match(String(signedIn.stdout), /^Signed in to /, String(signedIn.stderr));
      await rm(home, { recursive: true });
      assert.match(first.out, /^Database: .* \(new\)$/m);
      await writeUntilKilled(first, token, answered);
      assertOnlyGreetingHas(first.out, token);
    }
    await using second = await GatehouseProcess.serve(url);
    for (const id of answered) {
      assert.equal((await second.call('GET', `/ip_policies/${id}`, token)).status, 200, id);
    }
    assert.equal((await second.call('POST', '/ip_policies', token)).status, 201);
    const { out } = await stopInOrder(second);
    assert.doesNotMatch(out, /token|login/);
    assert.match(out, /^Database: .* \(opened\)$/m);
    assert.ok(!out.includes(token.slice(28)));
  });
});

describe('the program', () => {
  test('bad settings end it with 1 and all their faults on standard error', async () => {
    const { code, out, errors } = await GatehouseProcess.run(['serve', '--tcp-ports', 'x'], {
      GATEHOUSE_LOG_LEVEL: 'loud',
      GATEHOUSE_UNHEARD_OF: '1',
      GATEHOUSE_BOOTSTRAP_TOKEN: 'hunter2',
    });
    assert.equal(code, 1);
    assert.equal(out, '');
    for (const name of [
      '--tcp-ports "x"',
      'GATEHOUSE_LOG_LEVEL "loud"',
      'GATEHOUSE_UNHEARD_OF',
      'GATEHOUSE_BOOTSTRAP_TOKEN',
    ]) {
      assert.ok(errors.includes(name), `${name} in ${errors}`);
    }
    assert.ok(!errors.includes('hunter2') && !errors.includes('    at '));
  });

  test('the help lists the settings with their defaults', async () => {
    const { code, out } = await commands().end(['serve', '--help']);
    assert.equal(code, 0);
    // Long lines are broken where the column ends.
    const text = out.replaceAll(/\s+/g, ' ');
    for (const { flag, form, help, variable, fallback } of describeSettings()) {
      const value = fallback === '' ? variable : `${variable}, default: ${fallback}`;
      assert.ok(text.includes(`${flag} <${form}> ${help} (${value})`), flag);
    }
  });

  test('the help of the program lists its commands, and where the settings are', async () => {
    const { code, out } = await GatehouseProcess.run(['--help']);
    assert.equal(code, 0);
    for (const part of [
      'serve',
      'accounts',
      'create, list',
      'backup',
      'gatehouse serve --help',
      'gatehouse http 3000',
    ]) {
      assert.ok(out.includes(part), part);
    }
    assert.deepEqual(await GatehouseProcess.run(['help']), { code: 0, out, errors: '' });
  });

  test('the help of an agent has examples and exit codes, also by npx', async () => {
    const { code, out } = await commands().end(['help', 'http']);
    assert.equal(code, 0);
    for (const part of ['--domain', 'gatehouse http 3000 --label app=shop', 'Exit codes: 0 stopped']) {
      assert.ok(out.includes(part), part);
    }
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const npx = await promisify(execFile)('npx', ['--no-install', 'gatehouse', 'http', '--help'], { cwd });
    assert.equal(npx.stdout, out);
  });

  test('the version is that of the package', async () => {
    assert.deepEqual(await GatehouseProcess.run(['--version']), {
      code: 0,
      out: `${packageJson.version}\n`,
      errors: '',
    });
  });

  test('a first token that the operator chose works, and is printed nowhere', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    const url = `sqlite:${join(folder, 'gatehouse.db')}`;
    await using service = await GatehouseProcess.serve(url, ['--bootstrap-token', chosenToken]);
    assert.equal((await service.call('GET', '/api_keys', chosenToken)).status, 200);
    assert.equal((await service.call('GET', '/api_keys', `${chosenToken}x`)).status, 401);
    const { out, errors } = await stopInOrder(service);
    assert.ok(!`${out}${errors}`.includes(chosenToken) && !out.includes('curl'));
    await using again = await GatehouseProcess.serve(url, ['--bootstrap-token', `another-${chosenToken}`]);
    await again.printed(/bootstrap_token is ignored/);
  });

  test('a database that cannot be reached ends it with 1 and a reason without the password', async () => {
    const { code, errors } = await GatehouseProcess.run([
      '--role',
      'api',
      '--api-listen=127.0.0.1:0',
      '--database-url',
      'postgres://u:hunter2@127.0.0.1:1/x',
    ]);
    assert.equal(code, 1);
    assert.match(errors, /the database cannot be reached/);
    assert.ok(!errors.includes('hunter2') && !errors.includes('    at '));
  });

  test('a start that cannot have its address or its file ends with 1 and the setting to change', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const listen = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const start = (...settings: string[]) => GatehouseProcess.run(['--role', 'api', ...settings]);
    const [busy, noFile] = await Promise.all([
      start('--api-listen', listen, '--database-url', `sqlite:${join(folder, 'gatehouse.db')}`),
      start('--api-listen=127.0.0.1:0', '--database-url', `sqlite:${folder}`),
    ]);
    assert.deepEqual([busy.code, noFile.code], [1, 1]);
    assert.ok(busy.errors.includes('--api-listen') && busy.errors.includes(listen), busy.errors);
    assert.ok(noFile.errors.includes('--database-url') && noFile.errors.includes(folder), noFile.errors);
    assert.ok(![busy, noFile].some(({ errors }) => errors.includes('    at ')));
  });

  test('a start that cannot have its port for HTTPS says that once, and nothing about a change', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const listen = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const { code, out, errors } = await GatehouseProcess.run([
      '--https-listen',
      listen,
      '--agent-listen=off',
      '--api-listen=127.0.0.1:0',
      `--snapshot-file=${join(folder, 'gateway.snapshot')}`,
      `--database-url=sqlite:${join(folder, 'gatehouse.db')}`,
    ]);
    assert.equal(code, 1);
    assert.ok(errors.includes('--https-listen') && errors.includes(listen), errors);
    assert.deepEqual(
      out.split('\n').filter((line) => /"level":(50|60|"error"|"fatal")|not in force/.test(line)),
      [],
    );
  });

  test('a second start by mistake is refused in one line, before it opens anything', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-twice-'));
    context.after(() => rm(folder, { recursive: true }));
    const first = await GatehouseProcess.serve(`sqlite:${join(folder, 'x.db')}`, ['--bootstrap-token', chosenToken]);
    context.after(() => first[Symbol.asyncDispose]());
    const api = new URL(first.url).host;
    const same = ['--api-listen', api, '--https-listen', 'off', '--agent-listen', 'off', '--database-url'];
    const { code, out, errors } = await GatehouseProcess.run(['serve', ...same, `sqlite:${join(folder, 'none.db')}`]);
    assert.deepEqual([code, out], [1, '']);
    assert.match(errors, /^it cannot listen: another program has port \d+ of --api-listen, perhaps a Gatehouse .*\n$/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('none')),
      [],
    );
  });

  test('a command on the host makes no database where there is none', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    const url = `sqlite:${join(folder, 'mistyped.db')}`;
    const { code, errors } = await commands().end(['accounts', 'list', '--database-url', url]);
    assert.equal(code, 1);
    assert.match(errors, /there is no database at .*mistyped\.db/);
    assert.deepEqual(await readdir(folder), []);
  });

  test('a file or folder that a setting names and that is not there is named with the setting', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    context.after(() => rm(folder, { recursive: true, force: true }));
    const url = `sqlite:${join(folder, 'gatehouse.db')}`;
    const missing = join(folder, 'missing', 'x.pem');
    const gateway = ['--role', 'all', '--api-listen', '127.0.0.1:0', '--https-listen', 'off', '--agent-listen', 'off'];
    const start = await GatehouseProcess.run([...gateway, '--database-url', url, '--upstream-ca', missing]);
    assert.equal(start.code, 1);
    assert.ok(start.errors.includes(`--upstream-ca "${missing}" cannot be read`), start.errors);
    await fillNewSqlite(url);
    const backup = await commands().end(['backup', missing, '--database-url', url]);
    assert.equal(backup.code, 1);
    assert.match(backup.errors, /the folder .*missing does not exist: make it first/);
  });

  test('a mistyped command or flag is answered with the nearest one', async () => {
    const mistyped: readonly (readonly [string[], RegExp])[] = [
      [['acounts'], /unknown command 'acounts'\n\(Did you mean "gatehouse accounts"\?\)/],
      [['accounts', 'lst'], /unknown command 'lst'\n\(Did you mean "gatehouse accounts list"\?\)/],
      [['frobnicate'], /unknown command 'frobnicate'\n\(add --help/],
      [['serve', '--vender', 'x'], /unknown option '--vender'\n\(Did you mean --vendor\?\)/],
      [['--vender', 'x'], /unknown option '--vender'\n\(Did you mean --vendor\?\)/],
      [['--vendor'], /option '--vendor <word>' argument missing/],
      [['serve', 'word'], /too many arguments for 'serve'/],
    ];
    for (const [args, said] of mistyped) {
      const { code, out, errors } = await commands().end(args);
      assert.deepEqual([code, out], [1, '']);
      assert.match(errors, said);
    }
    // A start shows the same, and ends like it.
    const [[args, said] = assert.fail()] = mistyped;
    const { code, out, errors } = await GatehouseProcess.run(args);
    assert.deepEqual([code, out], [1, '']);
    assert.match(errors, said);
  });

  test('the value of a mistyped flag is not printed: it may be a secret', async () => {
    const secret = 'hunter2';
    for (const args of [[`--bootstrap-tokn=${secret}`], ['serve', '--bootstrap-tokn', secret]]) {
      const { code, errors } = await commands().end(args);
      assert.equal(code, 1);
      assert.match(errors, /Did you mean --bootstrap-token\?/);
      assert.ok(!errors.includes(secret), errors);
    }
  });
});

/** Several lanes write, and it is killed in the middle of them. */
async function writeUntilKilled(service: GatehouseProcess, token: string, answered: string[]): Promise<void> {
  const writeOn = async (lane: number) => {
    for (let at = 0; ; at++) {
      const response = await service.call('POST', '/ip_policies', token, { description: `${lane} ${at}` });
      assert.equal(response.status, 201);
      answered.push(JSON.parse(await response.text()).id);
      if (answered.length === 40) service.child.kill('SIGKILL');
    }
  };
  await Promise.allSettled([writeOn(1), writeOn(2), writeOn(3), writeOn(4)]);
  assert.equal((await service.ended()).code, null);
  assert.ok(answered.length >= 40);
}

/** SIGTERM ends it with 0, also while a client holds a connection on which it never sent anything. */
async function stopInOrder(service: GatehouseProcess): Promise<Ended> {
  const { hostname, port } = new URL(service.url);
  const idle = connect(Number(port), hostname);
  idle.on('error', () => {});
  await once(idle, 'connect');
  const ended = await service.stop('SIGTERM');
  assert.equal(ended.code, 0, ended.errors);
  return ended;
}

/** The greeting shows it twice: by itself, and in the command. No line of the log does. */
function assertOnlyGreetingHas(out: string, token: string): void {
  const secret = token.split('_')[1] ?? assert.fail();
  const lines = out.split('\n').filter((line) => line.includes(secret));
  assert.equal(lines.length, 1);
  assert.ok(lines.every((line) => !line.startsWith('{')));
  assert.ok(
    out.split('\n').some((line) => line.startsWith('{')),
    'there is a log',
  );
}
