import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { topics, wordsOf } from '../../dashboard/src/pages/notifications/topics.ts';
import { eventTypes } from '../../src/resources/events/event-types.ts';
import { MailServer, OtlpReceiver } from '../support/event-targets.ts';
import { createUser } from '../support/people.ts';
import { onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

test('every type of events is in one topic, and no topic has others', () => {
  const offered = topics.flatMap(({ types }) => types);
  assert.deepEqual(offered.toSorted(), [...eventTypes]);
  for (const { types, title } of topics) assert.equal(wordsOf(types), title);
  const firstFive = topics.slice(0, 5).map(({ title }) => title);
  assert.equal(wordsOf(eventTypes), `${firstFive.join(' · ')} and ${topics.length - 5} more`);
  assert.equal(wordsOf(['backend_down.v0']), 'backend_down.v0');
});

let mail: MailServer | undefined;

onDashboard(
  'the page of notifications',
  (d) => {
    const g = () => d().gatehouse;
    const mails = () => mail?.mails ?? assert.fail('the mail server runs while tests do');
    after(() => mail?.[Symbol.asyncDispose]());

    test('three clicks tell somebody, a test event really comes, and what happens does too', async () => {
      const page = await d().open({ path: '/notifications' });
      await page.getByText('Nobody is told of anything yet').waitFor();
      await lookAt(page, 'notifications-empty');
      await page.getByRole('button', { name: 'Tell me when…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Give it an address' }).waitFor();
      await lookAt(page, 'notifications-create');
      await dialog.getByLabel('The configuration changes').check();
      await dialog.getByRole('textbox', { name: 'Addresses' }).fill('ops@example.com, night@example.com');
      await dialog.getByRole('button', { name: 'Tell me', exact: true }).click();
      await page.getByText('You are told from now on.').waitFor();
      const told =
        'An edge refuses visitors · A backend falls, or comes back · A certificate ends soon · The configuration changes';
      await page.getByRole('table', { name: 'What is told' }).getByText(told).waitFor();
      const to = page.getByRole('table', { name: 'Where it goes' });
      await to.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText('The test event has been taken by ops@example.com, night@example.com.').waitFor();
      const tried = mails().find(({ text }) => /^Subject: \[Gatehouse\] Test: events arrive here\r?$/m.test(text));
      assert.deepEqual(tried?.to, ['ops@example.com', 'night@example.com']);
      await g().create('/ip_policies', { description: 'seen by all' });
      await until(
        () => mails().some(({ text }) => text.includes('IP policy created: seen by all')),
        'the change is told',
      );
      await page.reload();
      await to.getByText('Arrives', { exact: true }).waitFor();
      await lookAt(page, 'notifications');
    });

    test('what does not arrive says why, and is sent again from the page', async () => {
      await using receiver = await OtlpReceiver.start();
      receiver.answer = JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'no room' } });
      const target = { otlp: { url: receiver.url } };
      const { id } = await g().create('/event_destinations', { description: 'collector', target });
      await g().create('/event_subscriptions', { sources: [{ type: 'vault_created.v0' }], destination_ids: [id] });
      await g().create('/vaults', { name: 'one' });
      const delivery = async () => (await g().get(`/event_destinations/${id}`)).body.delivery;
      await until(async () => (await delivery()).undelivered === 1, 'it is given up');
      const page = await d().open({ path: '/notifications' });
      const row = page.getByRole('row').filter({ hasText: 'collector' }).last();
      await row.getByText('Not all arrived').waitFor();
      await row.getByText('it rejected the log record: no room; 1 given up, and kept').waitFor();
      await lookAt(page, 'notifications-given-up');
      await row.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByRole('alert').filter({ hasText: 'The test event did not arrive at collector.' }).waitFor();
      receiver.answer = '{}';
      await row.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('One event is sent again.').waitFor();
      await until(async () => (await delivery()).undelivered === 0, 'it has arrived');
      assert.equal(receiver.records.at(-1)?.event.object.name, 'one');
    });

    test('by keys: a webhook gets a secret that is never shown again, and its notification is stopped', async () => {
      const page = await d().open({ path: '/notifications' });
      await page.getByRole('heading', { name: 'Notifications' }).waitFor();
      await page.getByRole('button', { name: 'Tell me when…' }).waitFor();
      await page.keyboard.press('c');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Whom').selectOption({ label: 'A server of yours (webhook)…' });
      const secret = await dialog.getByLabel('Signing secret').inputValue();
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      await dialog.getByLabel('URL').fill('http://127.0.0.1:9/');
      await page.keyboard.press('Control+Enter');
      await dialog.getByRole('alert').filter({ hasText: 'it must begin with https://' }).waitFor();
      await dialog.getByLabel('URL').fill('https://127.0.0.1:9/hook');
      await page.keyboard.press('Control+Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('table', { name: 'Where it goes' }).getByText('https://127.0.0.1:9/hook').waitFor();
      assert.equal((await page.content()).includes(secret), false);
      assert.doesNotMatch(
        String(await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])')),
        /whsec/,
      );
      const row = page.getByRole('table', { name: 'What is told' }).getByRole('row').filter({ hasText: '127.0.0.1:9' });
      await row.getByRole('button', { name: /^Stop telling/ }).press('Enter');
      await dialog.getByRole('button', { name: 'Stop notification' }).press('Enter');
      await page.getByText('The notification is stopped.').waitFor();
      await page.getByRole('button', { name: 'Delete https://127.0.0.1:9/hook' }).press('Enter');
      await dialog.getByRole('button', { name: 'Delete destination' }).press('Enter');
      await page.getByText('Deleted https://127.0.0.1:9/hook.').waitFor();
    });

    test('only admins see it, and others are told whom to ask', async () => {
      const { token } = await createUser(g(), 'member');
      const page = await d().open({ path: '/notifications', token, isFresh: true });
      await page.getByText('Only admins read notifications').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Tell me when…' }).count(), 0);
    });
  },
  async () => {
    mail = await MailServer.start();
    return { smtpUrl: mail.url, smtpFrom: 'gatehouse@example.com', smtpSeconds: '1' };
  },
);
