import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { freePort } from '../support/free-port.ts';
import { programFile } from '../support/program-file.ts';
import { Terminal } from './support/terminal.ts';

const root = new URL('../../', import.meta.url);

/** Blocks that are no commands for a second terminal beside a server that runs. */
const elsewhere = new Set([
  'npm ci && npm start\n',
  'npm ci && npm test\n',
  // That of the packed program, which has a test of its own.
  'tar xzf gatehouse-*.tgz\npackage/bin/gatehouse serve\n',
]);

/** Blocks of shell commands, in their order. */
function blocksOf(readme: string): readonly string[] {
  return [...readme.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block = '']) => block)
    .filter((block) => !elsewhere.has(block));
}

test('every block of the README, pasted into a terminal one after another, does what it promises', async () => {
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
  await mkdir(join(folder, 'data'));
  await mkdir(join(folder, 'path'));
  // The folder is not that of the program.
  await writeFile(join(folder, 'path/npx'), `#!/bin/sh\nshift\nexec ${fileURLToPath(root)}bin/gatehouse "$@"\n`, {
    mode: 0o755,
  });
  const server = spawn(process.execPath, [programFile, 'serve', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const token = await tokenFrom(server.stdout);
    await using terminal = new Terminal(folder, {
      PATH: [join(folder, 'path'), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: folder,
      GATEHOUSE_SERVER: `localhost:${ports['4443']}`,
      NODE_PATH: fileURLToPath(new URL('node_modules', root)),
    });
    const shown: string[] = [];
    for (const block of blocksOf(readme)) {
      // The ports of the README may be taken on the machine that runs the tests, and the library is installed already.
      const here = Object.entries(ports)
        .reduce(
          (text, [written, port]) =>
            text.replaceAll(new RegExp(`(?:[:.]|listen\\(|addr: |http )${written}\\b`, 'g'), (place) =>
              place.replace(written, String(port)),
            ),
          block,
        )
        .replace('npm i @ngrok/ngrok\n', '')
        .replace('TOKEN=…', `TOKEN=${token}`);
      shown.push(await terminal.paste(here));
    }
    const output = shown.join('\n');
    const promised = [
      [/^\{"id":"ak_\w+",.*"description":"for the deploy pipeline"/m, 'a second key'],
      [/^\{"id":"ipx_\w+",.*"enforced":false,"type":"api"/m, 'a restriction that only warns'],
      [new RegExp(`^ *"host": "127\\.0\\.0\\.1:${ports['10080']}"`, 'm'), 'the TCP edge lets 127.0.0.1 in'],
      [/^refused$/m, 'and 127.0.0.2 not'],
      [/^127\.0\.0\.2 is refused by the module of edgtcp_\w+: no rule/m, 'with the reason'],
      [/^ *"x-added": "by the gateway"/m, 'one header is added'],
      [/^\+ tunnel_group_backends shop$/m, 'a plan'],
      [/^Applied: 1 created, 0 changed, 0 deleted\.$/m, 'that is applied'],
      [/^No changes\.$/m, 'and then holds'],
      [new RegExp(`^ *"host": "shop\\.localhost:${ports['8443']}"`, 'm'), 'through the agent of the service'],
      [new RegExp(`^ *"host": "library\\.localhost:${ports['8443']}"`, 'm'), 'through the library'],
      [/^ {2}restrictions +list, disable$/m, 'commands on the host'],
    ] as const;
    for (const [pattern, what] of promised) assert.match(output, pattern, what);
    assert.doesNotMatch(output, /^ *"x-secret"/m, 'the removed header reached the upstream');
    // Whatever is drawn would be drawn over what is typed and printed.
    assert.ok(!output.includes('\u001b'), JSON.stringify(output));
    assert.doesNotMatch(output, /command not found|syntax error|\[y\/N\]/);
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
