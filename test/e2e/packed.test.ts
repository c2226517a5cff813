import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { freePort } from '../support/free-port.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { scratchFolder } from '../support/scratch.ts';
import { askHttps } from './gateway/support/traffic.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { addressOf } from './support/own-agent.ts';

/** The file that `npm pack` makes, installed in an empty folder with an empty cache and without a network. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = scratchFolder();
const installed = join(folder, 'node_modules/gatehouse');
const launcher = join(folder, 'node_modules/.bin/gatehouse');
const token = 'the-token-that-the-packed-begins-with-0123456789';

async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', [...args, '--offline', '--cache', join(folder, '.npm')], { cwd });
  return stdout;
}

before(async () => {
  // Built already, as before every run; to build it again would take it away from the tests beside.
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', folder);
  const file = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  // Without the pinned Node, as on any machine that has its own.
  await npm(folder, 'install', '--omit=optional', '--no-audit', '--no-fund', join(folder, file));
});

test('it has no sources, prints its version with npx, and brings no package', async () => {
  assert.ok(!(await readdir(installed)).includes('src'));
  // npm writes this form.
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.equal((await npm(folder, 'exec', '--', 'gatehouse', '--version')).trim(), version);
  assert.ok(!(await readdir(installed)).includes('node_modules'), 'it needs no other package');
});

test('it is small, and as docs/operating.md says, a machine with Node alone unpacks and starts it, dashboard and reference inside', async () => {
  const page = await readFile(join(root, 'docs/operating.md'), 'utf8');
  const [, section = ''] = page.split('### Without the sources\n');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const [, name = '', megabytes = ''] = /`(gatehouse-[\d.]+\.tgz)`, less than (\d+) MB/.exec(section) ?? [];
  const { size } = await stat(join(folder, name));
  assert.ok(size < Number(megabytes) * 1_000_000, `${size} bytes`);
  const bare = scratchFolder();
  await copyFile(join(folder, name), join(bare, name));
  await mkdir(join(bare, 'path'));
  // The launcher and the block need these, and no npm.
  for (const tool of ['sh', 'tar', 'gzip', 'dirname', 'readlink', 'find']) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `command -v ${tool}`]);
    await symlink(stdout.trim(), join(bare, 'path', tool));
  }
  await symlink(process.execPath, join(bare, 'path/node'));
  const variables = {
    PATH: join(bare, 'path'),
    GATEHOUSE_API_LISTEN: '127.0.0.1:0',
    GATEHOUSE_HTTPS_LISTEN: '127.0.0.1:0',
    GATEHOUSE_AGENT_LISTEN: '127.0.0.1:0',
  };
  // The last command takes the place of the shell, so that it is the one that is stopped.
  const commands = block.replace(/^(?=package)/m, 'exec ');
  await using server = new GatehouseProcess(['-c', `cd ${bare}\n${commands}`], variables, '/bin/sh');
  const url = await server.printed(/^Gatehouse listens on (\S+)$/m);
  await checkPages(url);
  assert.equal((await server.stop('SIGTERM')).code, 0);
});

/** The dashboard with its code, and the reference. */
async function checkPages(url: string): Promise<void> {
  const page = await (await fetch(`${url}/dashboard/`)).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
  assert.equal((await fetch(new URL(script, `${url}/dashboard/`))).status, 200, page.slice(0, 500));
  assert.equal((await fetch(`${url}/docs/swagger-ui.css`)).status, 200);
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200);
}

onAnyDatabase('the packed package', (newDatabase) => {
  test('serves the API, dashboard and reference, and traffic of an agent through workers', async () => {
    const [agentPort, httpsPort] = [await freePort(), await freePort()];
    const flags = {
      'database-url': await newDatabase(),
      'api-listen': '127.0.0.1:0',
      'agent-listen': `127.0.0.1:${agentPort}`,
      'https-listen': `127.0.0.1:${httpsPort}`,
      'snapshot-file': 'off',
      'bootstrap-token': token,
      workers: '2',
    };
    const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    await using server = new GatehouseProcess(['serve', ...words], {}, launcher);
    const url = await server.printed(/^Gatehouse listens on (\S+)$/m);

    await checkPages(url);
    const exported = new GatehouseProcess(['export'], { GATEHOUSE_URL: url, GATEHOUSE_TOKEN: token }, launcher);
    assert.equal((await exported.ended()).code, 0);

    const created = await server.call('POST', '/credentials', token, {});
    // The test is about the rest.
    const { token: agentToken } = (await created.json()) as { token: string };
    const ca = join(folder, 'ca.pem');
    await writeFile(ca, await (await fetch(`${url}/local_ca.pem`)).text());
    await using upstream = await startUpstream();
    const variables = {
      GATEHOUSE_SERVER: `127.0.0.1:${agentPort}`,
      GATEHOUSE_CA: ca,
      GATEHOUSE_AUTHTOKEN: agentToken,
      XDG_CONFIG_HOME: folder,
    };
    await using agent = new GatehouseProcess(['http', String(upstream.port)], variables, launcher);
    const { hostname } = new URL(await addressOf(agent));
    const { status, echo } = await askHttps(httpsPort, hostname, { path: '/through' });
    assert.deepEqual([status, echo?.url], [200, '/through']);
  });
});
