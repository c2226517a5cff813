import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { createInspectServer } from '../../src/agent-client/inspect/inspect-server.ts';
import { RecentExchanges } from '../../src/agent-client/inspect/recent-exchanges.ts';
import { Replays } from '../../src/agent-client/inspect/replay.ts';
import { parseTarget } from '../../src/agent-client/target.ts';
import { HttpWatch } from '../../src/agent-client/watch/http-watch.ts';
import { portOf } from '../gateway/support/https-upstream.ts';
import { leaveBrowser, openBrowser } from './support/browser.ts';
import { lookAt } from './support/looks.ts';

/** The local page of an agent, in a browser, with bytes that visitors have chosen. */

test('requests appear, are opened, replayed and changed by keys; what strangers send runs nothing', async (t) => {
  const browser = await openBrowser();
  t.after(() => leaveBrowser(browser));
  const got: string[] = [];
  const target = createServer((asked, response) => {
    got.push(`${asked.method} ${asked.url} ${String(asked.headers['x-a'])}`);
    response.end('{"answer":"yes"}');
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const recent = new RecentExchanges();
  const at = parseTarget('http', `127.0.0.1:${portOf(target)}`);
  const replays = new Replays(recent, { target: at, insecure: false, proxyProtocol: 0, dialMs: 5000 });
  const server = createInspectServer({ recent, replays, target: at.url, address: () => 'https://a.test' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    target.close();
    server.close();
  });
  const pass = (path: string): void => {
    const watch = new HttpWatch(() => {}, recent.recorder({ visitor: '192.0.2.1:1', replayOf: undefined }));
    const body = '<script>document.title="stolen"</script>';
    watch.fromVisitor(
      Buffer.from(
        `GET ${path} HTTP/1.1\r\nHost: a.test\r\nX-A: "><img src=x onerror=alert(1)>\r\nCookie: sid=hunter2\r\n\r\n`,
      ),
    );
    watch.fromTarget(
      Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    );
  };
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => faults.push(message.text()));
  page.on('dialog', (dialog) => faults.push(dialog.message()));
  await page.goto(`http://127.0.0.1:${portOf(server)}/`);
  await page.getByText('No request yet.').waitFor();
  pass('/"><img/src=x/onerror=alert(1)>');
  const link = page.getByRole('link', { name: /^GET \/"><img\/src=x/ });
  await link.waitFor();
  await lookAt(page, 'agent-list');
  await page.locator('h1').click();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Go on', pressed: true }).waitFor();
  pass('/while-paused');
  await page.keyboard.press('Space');
  await page.getByRole('link', { name: 'GET /while-paused' }).waitFor();
  await page.getByRole('link', { name: 'GET /while-paused' }).click();
  await page.getByText('"><img src=x onerror=alert(1)>').waitFor();
  await page.getByText('sid=[masked]').waitFor();
  await page.getByText('<script>document.title="stolen"</script>').waitFor();
  await lookAt(page, 'agent-request');
  await page.locator('h1').click();
  await page.keyboard.press('r');
  await page.locator('.badge', { hasText: /^Replay$/ }).waitFor();
  await page.locator('h1').click();
  await page.keyboard.press('Shift+R');
  const headers = page.getByRole('textbox', { name: /^Headers/ });
  await headers.fill((await headers.inputValue()).replace(/X-A: .*/, 'X-A: typed'));
  await lookAt(page, 'agent-edit');
  await page.getByRole('button', { name: 'Send 1 request' }).click();
  await page.locator('.badge', { hasText: 'Replay, edited' }).waitFor();
  assert.deepEqual(got, ['GET /while-paused "><img src=x onerror=alert(1)>', 'GET /while-paused typed']);
  await page.getByRole('link', { name: 'All requests' }).click();
  await page.getByRole('button', { name: 'Forget all' }).click();
  await page.getByText('No request yet.').waitFor();
  assert.deepEqual(faults, []);
  assert.notEqual(await page.title(), 'stolen');
});
