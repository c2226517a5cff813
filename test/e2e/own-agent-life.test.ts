import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { scratchFolder } from '../support/scratch.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { until } from './gateway/support/until.ts';
import { TcpProxy } from './many-processes/support/tcp-proxy.ts';
import { AgentServer, addressOf, ended } from './support/own-agent.ts';

/** Our own agent through all that ends its connection, in order or not. */

const folder = scratchFolder();
let server: AgentServer;
before(async () => {
  server = await AgentServer.start(folder);
});
after(() => server[Symbol.asyncDispose]());

async function isServed(address: string): Promise<boolean> {
  const answered = await server.visit(address).catch(() => undefined);
  return answered?.status === 200;
}

test('the name that was given comes back after the server was killed and started again', async () => {
  await using upstream = await startUpstream();
  const { agent, address } = await server.online(['http', upstream.port]);
  server.program.signal('SIGKILL');
  await server.program.exited;
  await agent.printed(/offline: .*; trying again /);
  await server.serve();
  assert.equal(await addressOf(agent, 2), address);
  assert.equal((await server.visit(address)).status, 200);
});

test('the name comes back after the connection was cut, also with the port of a TCP endpoint', async () => {
  await using upstream = await startUpstream();
  const { proxy, url } = await TcpProxy.before(`tcp://127.0.0.1:${server.agentPort}`);
  await using cuts = proxy;
  const through = { GATEHOUSE_SERVER: `127.0.0.1:${new URL(url).port}` };
  const [http, tcp] = [
    await server.online(['http', upstream.port], through),
    await server.online(['tcp', upstream.port], through),
  ];
  await cuts.cut();
  for (const { agent } of [http, tcp]) await agent.printed(/offline: .*; trying again /);
  await cuts.restore();
  for (const { agent, address } of [http, tcp]) assert.equal(await addressOf(agent, 2), address);
  await until(() => isServed(http.address), 'visitors are served again');
});

test('at the first signal the request under way is answered, then it ends with 0, and the name is offline', async () => {
  const held: (() => void)[] = [];
  await using upstream = await startUpstream('held', (_, response) => {
    held.push(() => response.end('late'));
  });
  const { agent, address } = await server.online(['http', upstream.port]);
  const answered = server.visit(address, { path: '/late' });
  await until(() => held.length === 1, 'the request has arrived');
  // `npx` passes on what the terminal has sent to the agent too. Equal signals would become one on their way.
  agent.child.kill('SIGINT');
  agent.child.kill('SIGTERM');
  await agent.printed(/stopping: 1 connection has a few seconds to end/);
  held[0]?.();
  assert.equal((await answered).text, 'late');
  const { code, out } = await ended(agent);
  assert.equal(code, 0);
  assert.match(out, /GET \/late 200 .*\nStopped\.\n$/s);
  const { endpoints } = await server.program.must('GET', '/endpoints');
  assert.ok(!endpoints.some(({ url }: { url: string }) => url === address));
});

test('at the second signal it ends at once', async () => {
  await using upstream = await startUpstream('held', () => {});
  const { agent, address } = await server.online(['http', upstream.port]);
  const answered = server.visit(address).catch(() => undefined);
  await until(() => upstream.requests === 1, 'the request has arrived');
  // Those that come within half a second are one.
  const signals = setInterval(() => agent.child.kill('SIGINT'), 100);
  const { code, errors } = await ended(agent).finally(() => {
    clearInterval(signals);
  });
  assert.deepEqual([code, errors], [130, 'Ended at once.\n']);
  await answered;
});

test('it obeys the commands of the API: stop, restart; and says that it does not update itself', async () => {
  await using upstream = await startUpstream();
  const { agent, address } = await server.online(['http', upstream.port]);
  const { program } = server;
  const sessionId = async (): Promise<string> => {
    const { tunnels } = await program.must('GET', '/tunnels');
    const own = tunnels.find(({ public_url }: { public_url: string }) => public_url === address);
    return own.tunnel_session.id;
  };
  const first = await sessionId();
  const update = await program.call('POST', `/tunnel_sessions/${first}/update`, {});
  assert.equal(update.status, 409);
  assert.match(update.body.msg, /this agent does not update itself/);
  assert.equal((await program.call('POST', `/tunnel_sessions/${first}/restart`, {})).status, 204);
  assert.equal(await addressOf(agent, 2), address);
  const second = await sessionId();
  assert.notEqual(second, first);
  assert.equal((await program.call('POST', `/tunnel_sessions/${second}/stop`, {})).status, 204);
  const { code, out } = await ended(agent);
  assert.equal(code, 0);
  assert.match(out, /\nStopped by the server\.\n$/);
});

test('a reader of its output that stops reading does not stop it', async () => {
  await using upstream = await startUpstream();
  const { agent, address } = await server.online(['http', upstream.port]);
  agent.child.stdout?.pause();
  const path = `/${'x'.repeat(4000)}`;
  // More than a pipe and everything behind it hold.
  for (let left = 100; left > 0; left--) assert.equal((await server.visit(address, { path })).status, 200);
  agent.child.stdout?.resume();
  await agent.printed(/GET \/x+ 200 /);
});

const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no "script" to make a terminal with';
test('on a terminal it redraws in the foreground, and writes lines in the background', { skip }, async () => {
  const program = fileURLToPath(new URL('../../bin/gatehouse', import.meta.url));
  // A port without a server: that nobody answers is shown as well.
  const agent = `${program} http 9 --server 127.0.0.1:9`;
  const shownBy = async (commands: string, awaited: string, lastKeys: string): Promise<string> => {
    const child = spawn('script', ['-qec', `bash -mc '${commands}'`, '/dev/null'], {
      env: { ...process.env, GATEHOUSE_AUTHTOKEN: 'any', TERM: 'xterm' },
      stdio: 'pipe',
    });
    let shown = '';
    child.stdout.on('data', (chunk) => (shown += String(chunk)));
    await until(() => shown.includes(awaited), 'the agent has said something');
    child.stdin.on('error', () => {}).end(lastKeys);
    await once(child, 'close');
    return shown;
  };
  const wholeScreen = '\u001b[?1049h';
  const behind = await shownBy(`${agent} & read -r _; kill %1; wait`, 'offline', '\n');
  assert.ok(!behind.includes(wholeScreen), behind);
  assert.match(behind, /^\S+Z offline: /m);
  const inFront = await shownBy(agent, wholeScreen, '\u0003');
  assert.match(inFront, /Stopped\./);
});
