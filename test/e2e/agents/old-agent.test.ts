import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';

import { newSqlite } from '../../support/scratch.ts';
import { until } from '../gateway/support/until.ts';
import { Served } from './support/served.ts';

/**
 * The public service's old command-line agent, a closed program of 2021. It would also call its maker's hosts, so it and
 * the server run in a network that has nothing but the loopback interface.
 */

const isInside = process.env['TEST_ONLY_LOOPBACK'] === '1';
const enter = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

if (isInside) {
  let served: Served;
  before(async () => {
    served = await Served.start(newSqlite());
  });
  afterEach(() => served.clear());
  after(() => served[Symbol.asyncDispose]());

  test('opens an HTTP and a TCP tunnel, and ends when it is told to stop', async () => {
    const { addr } = await served.program.must('POST', '/reserved_addrs', {});
    const agent = await startAgent(served, await served.newToken(), {
      web: { proto: 'http', addr: served.upstream.port, hostname: 'old.localhost' },
      raw: { proto: 'tcp', addr: served.upstream.port, remote_addr: addr },
    });
    try {
      const isThere = async () => (await served.program.must('GET', '/tunnels')).tunnels.length >= 3;
      // The HTTP tunnel is two: one for each scheme.
      await until(isThere, `its tunnels are there: ${agent.output()}`);
      assert.equal((await served.ask('old.localhost')).echo?.name, served.upstream.name);
      const port = Number(String(addr).split(':')[1]);
      assert.equal((await served.askPort(port)).echo?.name, served.upstream.name);

      const { tunnel_sessions } = await served.program.must('GET', '/tunnel_sessions');
      assert.equal(tunnel_sessions.length, 1);
      await served.program.must('POST', `/tunnel_sessions/${tunnel_sessions[0].id}/stop`, {});
      await agent.exited;
    } finally {
      agent.kill();
    }
  });

  test('gives the two tunnels of a target without a name the same one', async () => {
    const agent = await startAgent(served, await served.newToken(), {
      web: { proto: 'http', addr: served.upstream.port },
    });
    try {
      const hosts = async () =>
        (await served.program.must('GET', '/tunnels')).tunnels.map((each: { readonly public_url: string }) =>
          each.public_url.replace(/^https?:\/\/|:\d+$/g, ''),
        );
      await until(async () => (await hosts()).length === 2, `both are there: ${agent.output()}`);
      const [name, twin] = await hosts();
      assert.equal(name, twin);
      assert.equal((await served.ask(name)).echo?.name, served.upstream.name);
    } finally {
      agent.kill();
    }
  });

  test('prints the words of a refusal, and ends', async () => {
    const agent = await startAgent(served, `${await served.newToken()}x`, { web: { proto: 'http', addr: 1 } });
    try {
      await agent.exited;
      assert.match(agent.output(), /ERR_NGROK_10[57]/);
    } finally {
      agent.kill();
    }
  });
} else {
  test('the old command-line agent, in a network of its own', async (t) => {
    const { status } = spawnSync('unshare', [...enter, 'true']);
    if (status !== 0) {
      t.diagnostic('not tried: no network of its own can be made here (needs root, and unshare and ip)');
      return;
    }
    const args = [...enter, process.execPath, '--test-timeout=240000', import.meta.filename];
    const inside = spawn('unshare', args, { env: { ...process.env, TEST_ONLY_LOOPBACK: '1', NODE_TEST_CONTEXT: '' } });
    let output = '';
    for (const stream of [inside.stdout, inside.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(inside, 'close');
    assert.equal(code, 0, output);
    assert.match(output, /^ℹ pass 3$/m);
  });
}

interface OldAgent {
  readonly exited: Promise<unknown>;
  readonly output: () => string;
  readonly kill: () => void;
}

async function startAgent(served: Served, token: string, tunnels: object): Promise<OldAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-old-agent-'));
  const [ca, settings] = [join(folder, 'ca.pem'), join(folder, 'settings.yml')];
  writeFileSync(ca, served.ca);
  // JSON is YAML too.
  const chosen = {
    authtoken: token,
    server_addr: `localhost:${served.agentPort}`,
    root_cas: ca,
    console_ui: false,
    update: false,
    web_addr: false,
    tunnels,
  };
  writeFileSync(settings, JSON.stringify(chosen));
  // Exports the path of the program, or null; it has no types.
  // @ts-expect-error TS7016
  const oldAgent: unknown = (await import('@expo/ngrok-bin')).default;
  assert.ok(typeof oldAgent === 'string', `there is no such agent for ${process.platform} on ${process.arch}`);
  const child = spawn(oldAgent, ['start', '--all', `-config=${settings}`, '-log=stdout'], { env: { HOME: folder } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  // Its output has been read by then.
  const exited = once(child, 'close').finally(() => rmSync(folder, { recursive: true, force: true }));
  return { exited, output: () => output, kill: () => child.kill('SIGKILL') };
}
