import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { freePort } from '../support/postgres.ts';

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
    '8443': await freePort(),
    '9000': await freePort(),
    '10080': await freePort(),
  };
  const flags = [
    `--database-url=sqlite:${join(folder, 'gatehouse.db')}`,
    `--api-listen=127.0.0.1:${ports['4040']}`,
    `--https-listen=127.0.0.1:${ports['8443']}`,
    `--tcp-ports=1024-65535`,
  ];
  const server = spawn(process.execPath, ['src/main.ts', 'serve', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const token = await tokenFrom(server.stdout);
    const [, ...blocks] = commandsOf(readme, 'Five minutes');
    // The ports of the README may be taken on the machine that runs the tests.
    const script = Object.entries(ports).reduce(
      (text, [written, port]) =>
        text.replaceAll(new RegExp(`:${written}\\b|listen\\(${written}\\b`, 'g'), (place) =>
          place.replace(written, String(port)),
        ),
      blocks.join('\n'),
    );
    const output = await bash(`${script}\nkill %1`, { TOKEN: token }, folder);
    assert.match(output, /"description":"for the deploy pipeline"/);
    assert.match(output, /"enforced":false,"type":"api"/);
    assert.match(output, new RegExp(`"host": "127.0.0.1:${ports['10080']}"`), 'the TCP edge lets 127.0.0.1 in');
    assert.match(output, /^refused$/m, 'and 127.0.0.2 not');
    assert.match(output, /127\.0\.0\.2 is refused by the module of edgtcp_\w+: no rule/);
    assert.match(output, /"x-added": "by the gateway"/);
    assert.doesNotMatch(output, /x-secret":|for nobody/, 'the removed header reached the upstream');
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
