import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { bareEnvironment, programFile } from '../support/program-file.ts';
import { scratchFolder } from '../support/scratch.ts';
import { Terminal } from './support/terminal.ts';

/** What a terminal shows of a first start, a call of the API and a request through an edge. */
async function shownBy(flags: string): Promise<string> {
  const folder = scratchFolder();
  const [api, https, agents] = [await freePort(), await freePort(), await freePort()];
  await using terminal = new Terminal(folder, bareEnvironment);
  const listen = `--api-listen 127.0.0.1:${api} --https-listen 127.0.0.1:${https} --agent-listen 127.0.0.1:${agents}`;
  await terminal.paste(`${process.execPath} ${programFile} serve ${listen} ${flags} &`);
  await terminal.shows('WARN: secret_key');
  const [, token] = /^ {2}(\w{27}_\w{43})$/m.exec(terminal.output) ?? assert.fail(terminal.output);
  await terminal.paste(`curl -s -o edge http://127.0.0.1:${api}/edges/https -H 'Authorization: Bearer ${token}' \
  -H 'Service-Version: 2' -H 'Content-Type: application/json' -d '{"hostports":["app.localhost:443"]}'
curl -sk -o answer https://app.localhost:${https}/
kill -TERM $!
wait $!`);
  return terminal.output;
}

test('a start on a terminal begins with the greeting, then warns; requests have no line', async () => {
  const shown = await shownBy('');
  const [before = ''] = shown.split('Gatehouse listens on ');
  assert.doesNotMatch(before, /INFO|WARN/, shown);
  assert.match(
    shown,
    /Gatehouse listens on .*\nDashboard: .*\nHTTPS edges: .*\nAgents: .*\nDatabase: .*\n\nFirst start: /,
    shown,
  );
  assert.match(shown, /login --url[^]*WARN: secret_key is not set/, shown);
  assert.doesNotMatch(shown, /INFO: (?:request|http request)\b/, shown);
});

test('requests have their lines on a terminal where the setting asks for them', async () => {
  const shown = await shownBy('--access-log 1');
  assert.match(shown, /INFO: request .*"path":"\/edges\/https"/, shown);
  assert.match(shown, /INFO: http request .*"host":"app\.localhost"/, shown);
});
