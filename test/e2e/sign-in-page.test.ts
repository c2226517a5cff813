import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { scratchFolder } from '../support/scratch.ts';
import { Visitor } from '../support/visitor.ts';
import { until } from './gateway/support/until.ts';
import { shellBlocks, Walkthrough } from './support/walkthrough.ts';

const pageOf = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('docs/sign-in.md can be followed by pasting its blocks, with the provider of the tools', async () => {
  const [, fiveMinutes = ''] = (await pageOf('README.md')).split('## Five minutes\n');
  const [upToUpstream = ''] = fiveMinutes.split('**A TCP edge**');
  const page = await pageOf('docs/sign-in.md');
  await using walkthrough = await Walkthrough.start(scratchFolder(), [9000, 9001], { GATEHOUSE_WORKERS: 'off' });
  const gatewayPort = walkthrough.ports.get(8443)!;
  for (const block of shellBlocks(upToUpstream)) await walkthrough.paste(block);
  const visitor = () => new Visitor({ 'app.localhost': gatewayPort });
  const start = `https://app.localhost:${gatewayPort}/`;
  const ada = visitor();

  for (const block of shellBlocks(page)) {
    const isAboutSessions = block.startsWith('api GET /app/sessions');
    if (isAboutSessions) {
      const seen = await ada.signIn(start, 'ada');
      assert.equal(seen.status, 200, seen.text);
      assert.match(seen.text, /"gatehouse-user-email": "ada@example\.com"/);
      const refused = await visitor().signIn(start, 'eve');
      assert.equal(refused.status, 403);
      assert.match(refused.text, /carriers/);
      // A gateway tells of sessions a moment later.
      const isListed = async () => (await walkthrough.paste('api GET /app/sessions')).includes('"as_');
      await until(isListed, 'the session is listed');
      await ada.open(`${start}.gatehouse/sign-out`);
      assert.equal((await ada.ask(start)).status, 302, 'she has signed out');
      await until(async () => !(await isListed()), 'it is listed no more');
      assert.equal((await ada.signIn(start, 'ada')).status, 200);
      await until(isListed, 'the next one is listed');
    }
    const shown = await walkthrough.paste(block);
    assert.doesNotMatch(shown, /command not found|syntax error|Error:/);
    if (block.startsWith('curl ')) {
      assert.match(shown, /"status_code":401/);
      assert.ok(shown.includes(`in a browser: https://app.localhost:${gatewayPort}/.gatehouse/sign-in?to=%2F"`), shown);
      continue;
    }
    assert.doesNotMatch(shown, /"error_code"/);
    if (isAboutSessions) {
      assert.match(shown, /"application_sessions":\[\{.*"email":"ada@example\.com"/);
      assert.equal((await ada.ask(start)).status, 302, 'the session has ended');
    }
  }
});
