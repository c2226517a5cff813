import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { scratchFolder } from '../support/scratch.ts';
import { shellBlocks, Walkthrough } from './support/walkthrough.ts';

/** Blocks that are no commands for a second terminal beside a server that runs. */
const elsewhere = new Set([
  'npm ci && npm start\n',
  'npm ci && npm test\n',
  // That of the packed program, which has a test of its own.
  'tar xzf gatehouse-*.tgz\npackage/bin/gatehouse serve\n',
]);

test('every block of the README, pasted into a terminal one after another, does what it promises', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  await using walkthrough = await Walkthrough.start(scratchFolder(), [9000, 10080]);
  const { ports } = walkthrough;
  const shown: string[] = [];
  for (const block of shellBlocks(readme)) {
    if (elsewhere.has(block)) continue;
    // The library is installed already.
    shown.push(await walkthrough.paste(block.replace('npm i @ngrok/ngrok\n', '')));
  }
  const output = shown.join('\n');
  const promised = [
    [/^\{"id":"ak_\w+",.*"description":"for the deploy pipeline"/m, 'a second key'],
    [/^\{"id":"ipx_\w+",.*"enforced":false,"type":"api"/m, 'a restriction that only warns'],
    [new RegExp(`^ *"host": "127\\.0\\.0\\.1:${ports.get(10080)}"`, 'm'), 'the TCP edge lets 127.0.0.1 in'],
    [/^refused$/m, 'and 127.0.0.2 not'],
    [/^127\.0\.0\.2 is refused by the module of edgtcp_\w+: no rule/m, 'with the reason'],
    [/^ *"x-added": "by the gateway"/m, 'one header is added'],
    [/^\+ tunnel_group_backends shop$/m, 'a plan'],
    [/^Applied: 1 created, 0 changed, 0 deleted\.$/m, 'that is applied'],
    [/^No changes\.$/m, 'and then holds'],
    [new RegExp(`^ *"host": "shop\\.localhost:${ports.get(8443)}"`, 'm'), 'through the agent of the service'],
    [new RegExp(`^ *"host": "library\\.localhost:${ports.get(8443)}"`, 'm'), 'through the library'],
    [/^ {2}restrictions +list, disable$/m, 'commands on the host'],
  ] as const;
  for (const [pattern, what] of promised) assert.match(output, pattern, what);
  assert.doesNotMatch(output, /^ *"x-secret"/m, 'the removed header reached the upstream');
  // Whatever is drawn would be drawn over what is typed and printed.
  assert.ok(!output.includes('\u001b'), JSON.stringify(output));
  assert.doesNotMatch(output, /command not found|syntax error|\[y\/N\]/);
});
