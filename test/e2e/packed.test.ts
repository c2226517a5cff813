import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { freePort } from '../support/free-port.ts';
import { onEachDatabase } from '../support/each-database.ts';
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

onEachDatabase('the packed package', (newDatabase) => {
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

    const page = await (await fetch(`${url}/dashboard/`)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
    assert.equal((await fetch(new URL(script, `${url}/dashboard/`))).status, 200, page.slice(0, 500));
    assert.equal((await fetch(`${url}/docs/swagger-ui.css`)).status, 200);
    assert.equal((await fetch(`${url}/openapi.json`)).status, 200);
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
