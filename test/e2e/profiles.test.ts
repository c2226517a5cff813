import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { remoteCommands } from '../support/command-host.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { bareEnvironment } from '../support/program-file.ts';

const token = 'the-token-of-the-profiles-0123456789abcd';
const program = fileURLToPath(new URL('../../bin/gatehouse', import.meta.url));
const hasScript = spawnSync('script', ['--version']).status === 0;

describe('profiles', () => {
  let server: GatehouseProcess;
  let folder: string;
  let home: string;
  const run = (args: readonly string[], variables = {}) => remoteCommands({ HOME: home, ...variables }).end(args);

  /** Runs the program with this as its standard input. */
  async function type(args: readonly string[], input: string) {
    const child = spawn(program, args, { env: { ...bareEnvironment, HOME: home }, stdio: 'pipe' });
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    // A program that has nothing more to ask may be gone.
    child.stdin.on('error', () => {}).end(input);
    const [code] = await once(child, 'close');
    return { code, errors };
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    const database = `sqlite:${join(folder, 'a.db')}`;
    server = await GatehouseProcess.serve(database, ['--role', 'api', '--bootstrap-token', token]);
  });
  beforeEach(async () => {
    home = await mkdtemp(join(folder, 'home-'));
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('login keeps a token that works in a private file, and other commands use it', async () => {
    const { code, errors } = await type(['login', '--url', `${server.url}/`, '--profile', 'shop'], `${token}\nmore\n`);
    assert.equal(code, 0, errors);
    const file = join(home, '.config/gatehouse/profiles.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(join(home, '.config/gatehouse'))).mode & 0o777, 0o700);
    assert.equal((await run(['api-keys', 'list'])).code, 0);
    assert.equal((await run(['export', '--profile', 'shop'])).code, 0);
    const listed = await run(['profiles', 'list']);
    assert.deepEqual(JSON.parse(listed.out), [{ name: 'shop', url: server.url, current: true }]);

    await chmod(file, 0o640);
    const open = await run(['api-keys', 'list']);
    assert.deepEqual([open.code, /chmod 600 /.test(open.errors)], [1, true]);
    await chmod(file, 0o600);
    assert.equal((await run(['logout'])).code, 0);
    assert.doesNotMatch(await readFile(file, 'utf8'), /the-token/);
    assert.match((await run(['api-keys', 'list'])).errors, /no token .*gatehouse login/);
  });

  test('a token that is refused is not kept, nor does it take the place of another', async () => {
    assert.equal((await type(['login', '--url', server.url], token)).code, 0);
    const refused = await type(['login', '--url', server.url], `${token.slice(1)}x\n`);
    assert.equal(refused.code, 3, refused.errors);
    assert.equal((await type(['login', '--url', server.url], '\n')).code, 1);
    assert.equal((await run(['api-keys', 'list'])).code, 0);
  });

  test('variables win over a profile, and its token goes to no other server', async () => {
    assert.equal((await type(['login', '--url', server.url], token)).code, 0);
    const elsewhere = await run(['api-keys', 'list'], { GATEHOUSE_URL: 'http://127.0.0.1:1' });
    assert.deepEqual([elsewhere.code, /no token for http:\/\/127\.0\.0\.1:1/.test(elsewhere.errors)], [1, true]);
    const both = { GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: 'another' };
    assert.equal((await run(['api-keys', 'list'], both)).code, 3);
    const unclear = await run(['api-keys', 'list', '--profile', 'default'], both);
    assert.deepEqual([unclear.code, /Leave out one of the two/.test(unclear.errors)], [1, true]);
    const unknown = await run(['api-keys', 'list'], { GATEHOUSE_PROFILE: 'none' });
    assert.deepEqual([unknown.code, /there are: default/.test(unknown.errors)], [1, true]);
  });

  test('profiles stand beside each other', async () => {
    assert.equal((await type(['login', '--url', server.url], token)).code, 0);
    const named = server.url.replace('127.0.0.1', 'localhost');
    assert.equal((await type(['login', '--url', named, '--profile', 'two'], token)).code, 0);
    assert.equal((await run(['profiles', 'list', '--query', '[*].current'])).out, 'false\ntrue\n');
    assert.equal((await run(['profiles', 'use', 'default'])).code, 0);
    assert.equal((await run(['profiles', 'list', '--query', '[*].current'])).out, 'true\nfalse\n');
    assert.equal((await run(['profiles', 'use', 'three'])).code, 1);
  });

  const skip = hasScript ? false : 'there is no "script" to make a terminal with';
  test('on a terminal the token is asked for and not shown', { skip }, async () => {
    const child = spawn('script', ['-qec', `${program} login`, '/dev/null'], {
      env: { ...bareEnvironment, HOME: home, TERM: 'xterm' },
      stdio: 'pipe',
    });
    let shown = '';
    child.stdout.on('data', (chunk) => {
      const earlier = shown;
      shown += String(chunk);
      const isNew = (words: string) => shown.includes(words) && !earlier.includes(words);
      if (isNew('URL of the API')) child.stdin.write(`${server.url}\r`);
      if (isNew('Token of an API key')) child.stdin.write(`${token}\r`);
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, shown);
    assert.match(shown, /Signed in to /);
    assert.ok(!shown.includes('the-token'), shown);
  });
});
