import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import ngrok from '@ngrok/ngrok';
import type { Session } from '@ngrok/ngrok';

import { visible } from '../../dashboard/src/lib/strangers.ts';
import { askHttps } from '../e2e/gateway/support/traffic.ts';
import { startUpstream } from '../e2e/gateway/support/upstream.ts';
import type { Upstream } from '../e2e/gateway/support/upstream.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { freePort } from '../support/free-port.ts';
import { createUser } from '../support/people.ts';
import { scratchFolder } from '../support/scratch.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { restrict } from './support/restrictions.ts';

const host = 'booking.kestrel.test';
const agentHost = 'labels.localhost';
const hidden = '\u{202e}';

onDashboard(
  'the road from a change to a replay',
  (d) => {
    let upstream: Upstream;
    let session: Session;
    before(async () => {
      const { gatehouse } = d();
      // A page in an answer must stay text, and what is hidden in it is written out.
      upstream = await startUpstream('labels', (request, response) => {
        request.resume();
        const text = JSON.stringify({ url: request.url, html: '<img src=x onerror=alert(1)>', hidden });
        response.setHeader('content-type', 'text/html').setHeader('set-cookie', 'sid=hunter2').end(text);
      });
      const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`], description: 'Booking' });
      await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
      });
      const { token } = await gatehouse.create('/credentials', { description: 'depot' });
      const { agents, engine } = gatehouse.app;
      session = await new ngrok.SessionBuilder()
        .authtoken(token)
        .serverAddr(`localhost:${agents?.port}`)
        .caCert(Buffer.from(engine?.caCertificatePem ?? ''))
        .connect();
      await session.httpEndpoint().domain(agentHost).listenAndForward(`http://127.0.0.1:${upstream.port}`);
    });
    after(async () => {
      await session.close();
      await upstream[Symbol.asyncDispose]();
    });
    const ask = (name: string, path: string, from: string, headers: Readonly<Record<string, string>> = {}) =>
      askHttps(d().gatehouse.httpsPort, name, { path, from, headers });

    test('a rule is rehearsed and saved, who it refuses is looked up, and the moment before comes back', async () => {
      const { gatehouse } = d();
      const { id, policyId } = await restrict(gatehouse, {
        type: 'endpoints',
        description: 'Depots',
        allow: ['127.0.0.0/29', '127.0.0.9/32'],
      });
      await gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
      await until(async () => (await ask(host, '/before', '127.0.0.9')).status === 200, 'it is let in');
      const { body: changes } = await gatehouse.get('/changes?limit=1');
      const version = String(changes.changes[0].version);
      await until(
        async () => (await gatehouse.get('/decisions?source=127.0.0.9')).body.decisions.length > 0,
        'its decision is kept',
      );

      const page = await d().open({ path: `/ip-policies/${policyId}` });
      await page.getByRole('button', { name: 'Delete the rule 127.0.0.9/32' }).click();
      await page.getByRole('button', { name: 'See who would notice' }).click();
      const sheet = page.getByRole('complementary', { name: 'Who would notice?' });
      await sheet.getByRole('region', { name: 'Newly refused' }).getByText('127.0.0.9').waitFor();
      assert.equal((await ask(host, '/tried', '127.0.0.9')).status, 200, 'it was only tried');
      await sheet.getByRole('button', { name: 'Save and refuse 1 source' }).click();
      await sheet.waitFor({ state: 'detached' });
      let text = '';
      await until(async () => {
        const answer = await ask(host, '/after', '127.0.0.9');
        ({ text } = answer);
        return answer.status === 403;
      }, 'it is refused');
      const requestId = /op_\w+/.exec(text)?.[0] ?? assert.fail(text);
      await until(
        async () => (await gatehouse.get('/decisions?source=127.0.0.9&verdict=refused')).body.decisions.length > 0,
        'the refusal is kept',
      );

      await page.keyboard.press('/');
      await page.getByRole('dialog').getByRole('combobox').fill(requestId);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /^Refused on .*\. Today the same would happen$/ }).waitFor();
      await page.getByText('GET /after').first().waitFor();

      await lead(page, `/changes?at=${version}`);
      await page.getByRole('button', { name: 'Return to this moment…' }).click();
      const dialog = page.getByRole('dialog', { name: /^Return to / });
      await dialog.getByText('One new change sets 1 thing back', { exact: false }).waitFor();
      await dialog.getByRole('button', { name: /^Return to / }).click();
      await page.getByText(/^Returned to /).waitFor();
      await until(async () => (await ask(host, '/again', '127.0.0.9')).status === 200, 'it is let in again');
    });

    test('a request to the endpoint of an agent is inspected, and replayed as it was and changed', async () => {
      const { gatehouse } = d();
      const { body } = await gatehouse.get('/endpoints');
      const endpoint = body.endpoints.find(({ public_url: url }: { public_url: string }) => url.includes(agentHost));
      const page = await d().open({ path: `/endpoints/${endpoint.id}` });
      await page.getByRole('link', { name: 'Inspect requests' }).last().click();
      await page.getByText('Nothing is being inspected').waitFor();
      await lookAt(page, 'inspect-none');
      await page.getByRole('button', { name: 'Inspect requests' }).click();
      await page.getByText('Nothing has come yet').waitFor();
      await lookAt(page, 'inspect-empty');
      await until(
        async () => (await ask(agentHost, '/hooks?token=hunter2&n=1', '127.0.0.1', { 'x-one': '1' })).status === 200,
        'the agent answers',
      );
      const row = page.getByRole('row').filter({ hasText: '/hooks' });
      await row.getByText('token=[masked]').first().waitFor();
      await page.getByRole('link', { name: /hooks/ }).click();
      const opened = page.getByRole('complementary', { name: /^GET \/hooks/ });
      await opened.getByText('x-one', { exact: true }).waitFor();
      await opened.getByRole('button', { name: 'Answer 200' }).click();
      const answer = opened.getByLabel('Body of the answer', { exact: true });
      await answer.getByText(`"html": "<img src=x onerror=alert(1)>"`).waitFor();
      await answer.getByText(visible(hidden), { exact: false }).waitFor();
      assert.equal(await page.locator('main img').count(), 0);
      assert.ok(!(await page.content()).includes('hunter2'));
      await lookAt(page, 'inspect-request');

      await opened.getByRole('button', { name: 'Replay as it was' }).focus();
      await page.keyboard.press('r');
      await opened.getByText(/^Replayed: 200 in/).waitFor();
      await opened.getByText('Left out, because it was masked: ?token', { exact: false }).waitFor();
      await page.getByRole('row').filter({ hasText: 'Replay' }).first().waitFor();
      await page.keyboard.press('R');
      const dialog = page.getByRole('dialog', { name: 'Edit and replay GET' });
      await dialog.getByLabel('Path and query').fill('/changed?n=2');
      await dialog.getByLabel('Headers').fill('no header');
      await dialog.getByText('Each line is a name, a colon and a value.').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Mend a header' }).isDisabled());
      await dialog.getByLabel('Headers').fill('x-two: 2');
      await lookAt(page, 'inspect-edit');
      await dialog.getByRole('button', { name: 'Send 1 request' }).click();
      await dialog.waitFor({ state: 'detached' });
      const edited = page.getByRole('row').filter({ hasText: '/changed?n=2' });
      await edited.getByText('Replay, edited').waitFor();
      await page.getByLabel('Replays').selectOption('hidden');
      await edited.waitFor({ state: 'detached' });
      assert.match(page.url(), /replays=hidden/);
      await page.getByLabel('Find in path, headers and bodies').fill('nothing has this');
      await page.getByText('No request fits the filter').waitFor();
      await page.getByRole('button', { name: 'End and forget all' }).click();
      await page.getByText('Nothing is being inspected').waitFor();
      assert.deepEqual((await gatehouse.get('/inspections')).body.inspections, []);
      await lead(page, '/inspect/insp_2tQzYDLwIVU45s8sSMNpRfQp1Ng');
      await page.getByRole('heading', { name: 'This inspection has ended' }).waitFor();
      const member = await createUser(gatehouse, 'member');
      const theirs = await d().open({ token: member.token, path: '/inspect' });
      await theirs.getByText(/only an admin may write inspections/).waitFor();
    });
  },
  async () => ({
    agentListen: '127.0.0.1:0',
    httpsListen: `127.0.0.1:${await freePort()}`,
    decisions: scratchFolder(),
    drainSeconds: '0',
  }),
);
