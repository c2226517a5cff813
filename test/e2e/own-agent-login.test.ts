import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { qrLines } from '../../src/lib/qr-code.ts';
import { bareEnvironment, programFile } from '../support/program-file.ts';
import { scratchFolder } from '../support/scratch.ts';
import { until } from './gateway/support/until.ts';
import { programToken } from './gateway/support/program.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { AgentServer, ended } from './support/own-agent.ts';

/** `gatehouse login`, and agents with nothing else. */

let server: AgentServer;
before(async () => {
  server = await AgentServer.start(scratchFolder());
});
after(() => server[Symbol.asyncDispose]());

const nothing = { GATEHOUSE_SERVER: '', GATEHOUSE_CA: '', GATEHOUSE_AUTHTOKEN: '' };

async function type(args: readonly string[], home: string, input = ''): Promise<string> {
  const child = spawn(process.execPath, [programFile, ...args], {
    env: { ...bareEnvironment, XDG_CONFIG_HOME: home },
    stdio: 'pipe',
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)));
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, out);
  return out;
}

const login = (home: string, token = programToken) =>
  type(['login', '--url', `http://127.0.0.1:${server.program.apiPort}`], home, `${token}\n`);
const keptIn = (home: string) =>
  JSON.parse(readFileSync(join(home, 'gatehouse', 'profiles.json'), 'utf8')).profiles.default;
const credentials = async (): Promise<readonly string[]> =>
  (await server.program.must('GET', '/credentials')).credentials.map(({ id }: { readonly id: string }) => id);

test('after a login an agent connects with nothing else, and a logout deletes its credential', async () => {
  await using upstream = await startUpstream();
  const home = scratchFolder();
  assert.match(await login(home), /gatehouse http 3000/);
  const { agent: kept } = keptIn(home);
  assert.equal(kept.server, `127.0.0.1:${server.agentPort}`);
  const { agent, address } = await server.online(['http', upstream.port], { ...nothing, XDG_CONFIG_HOME: home });
  assert.equal((await server.visit(address)).status, 200);
  await agent.stop('SIGINT');

  await login(home);
  assert.deepEqual(keptIn(home).agent, kept, 'a second login makes no second credential');
  await server.program.must('DELETE', `/credentials/${kept.credential_id}`);
  await login(home);
  const { credential_id: fresh } = keptIn(home).agent;
  assert.notEqual(fresh, kept.credential_id);
  await type(['logout'], home);
  assert.ok(!(await credentials()).includes(fresh));
});

test('the token of a profile goes to its own server alone, and to no authority but its own', async () => {
  const home = scratchFolder();
  await login(home);
  const variables = { ...nothing, XDG_CONFIG_HOME: home };
  const elsewhere = await ended(server.agent(['http', 3000, '--server', '127.0.0.1:1'], variables));
  assert.deepEqual(
    [elsewhere.code, /no token for 127\.0\.0\.1:1: run "gatehouse login"/.test(elsewhere.errors)],
    [1, true],
  );
  const named = await ended(server.agent(['http', 3000, '--profile', 'none'], variables));
  assert.deepEqual([named.code, /there is no profile "none"/.test(named.errors)], [1, true]);
  const other = `sha256:${'0'.repeat(64)}`;
  const pinned = await ended(server.agent(['http', 3000, '--fingerprint', other], variables));
  assert.equal(pinned.code, 8);
});

test('somebody who may connect no agent signs in all the same', async () => {
  const home = scratchFolder();
  const { token } = await server.program.must('POST', '/api_keys', { read_only: true });
  assert.match(await login(home, token), /Agents cannot be connected by this login: .*\nSigned in to /);
  assert.equal(keptIn(home).agent, undefined);
});

const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no "script" to make a terminal with';
test('a wide terminal shows the address as a code for a telephone beside the view', { skip }, async () => {
  await using upstream = await startUpstream();
  const home = scratchFolder();
  await login(home);
  const command = `stty cols 120 rows 40; exec ${process.execPath} ${programFile} http ${upstream.port}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...bareEnvironment, XDG_CONFIG_HOME: home, TERM: 'xterm' },
    stdio: 'pipe',
  });
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += String(chunk)));
  await until(
    () => /address {3}https:\S+ -> /.test(shown),
    () => `the address is shown: ${shown}`,
  );
  const [, address = ''] = /address {3}(https:\S+) -> /.exec(shown) ?? [];
  const lines = qrLines(address) ?? assert.fail(address);
  await until(
    () => lines.every((line) => shown.includes(line)),
    () => `the code is shown: ${shown}`,
  );
  child.stdin.write('\u0003');
  await once(child, 'close');
});
