import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { freePort } from '../support/free-port.ts';
import { programFile } from '../support/program-file.ts';

const root = new URL('../../', import.meta.url);

/** Returns the blocks of shell commands under a heading. */
function commandsOf(readme: string, heading: string): readonly string[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  return [...(section.split('\n## ', 1)[0] ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

test('the commands of the README, pasted, end with traffic that obeys them', async () => {
  const readme = await readFile(new URL('README.md', root), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  const ports = {
    '4040': await freePort(),
    '4443': await freePort(),
    '8443': await freePort(),
    '9000': await freePort(),
    '10080': await freePort(),
  };
  const flags = [
    `--database-url=sqlite:${join(folder, 'gatehouse.db')}`,
    `--api-listen=127.0.0.1:${ports['4040']}`,
    `--https-listen=127.0.0.1:${ports['8443']}`,
    `--agent-listen=127.0.0.1:${ports['4443']}`,
    `--tcp-ports=1024-65535`,
  ];
  const server = spawn(process.execPath, [programFile, 'serve', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const token = await tokenFrom(server.stdout);
    const headings = ['Five minutes', 'Configuration as files', 'A program behind NAT'];
    const [, ...blocks] = headings.flatMap((heading) => commandsOf(readme, heading));
    // The ports of the README may be taken on the machine that runs the tests.
    const script = Object.entries(ports).reduce(
      (text, [written, port]) =>
        text.replaceAll(new RegExp(`(?:[:.]|listen\\(|addr: |http )${written}\\b`, 'g'), (place) =>
          place.replace(written, String(port)),
        ),
      blocks.join('\n'),
    );
    // The folder is not that of the program, and the library is installed already.
    const here = script
      .replaceAll('npx gatehouse', `${fileURLToPath(root)}bin/gatehouse`)
      .replace('npm i @ngrok/ngrok\n', '');
    const environment = {
      TOKEN: token,
      GATEHOUSE_SERVER: `localhost:${ports['4443']}`,
      NODE_PATH: fileURLToPath(new URL('node_modules', root)),
    };
    const output = await bash(`mkdir data\n${here}\nkill %1 %2 %3`, environment, folder);
    assert.match(output, /"description":"for the deploy pipeline"/);
    assert.match(output, /"enforced":false,"type":"api"/);
    assert.match(output, new RegExp(`"host": "127.0.0.1:${ports['10080']}"`), 'the TCP edge lets 127.0.0.1 in');
    assert.match(output, /^refused$/m, 'and 127.0.0.2 not');
    assert.match(output, /127\.0\.0\.2 is refused by the module of edgtcp_\w+: no rule/);
    assert.match(output, /"x-added": "by the gateway"/);
    assert.doesNotMatch(output, /x-secret":|for nobody/, 'the removed header reached the upstream');
    assert.match(output, /^\+ tunnel_group_backends shop$/m);
    assert.match(output, /^Applied: 1 created, 0 changed, 0 deleted\.\nNo changes\.$/m);
    assert.match(output, new RegExp(`"host": "shop.localhost:${ports['8443']}"`), 'through the agent of the service');
    assert.match(output, new RegExp(`"host": "library.localhost:${ports['8443']}"`), 'through the library');
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
});

/** Waits for the token, then keeps reading: a full pipe would block the server. */
function tokenFrom(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += String(chunk);
      const [, token] = /^ {2}(\w{27}_\w{43})$/m.exec(text) ?? [];
      if (token !== undefined) resolve(token);
    });
    output.on('end', () => {
      reject(new Error(`no token was printed: ${text}`));
    });
  });
}

async function bash(script: string, environment: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  const shell = spawn('bash', ['-c', script], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code] = await once(shell, 'exit');
  assert.equal(code, 0, output);
  return output;
}
