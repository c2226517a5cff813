import assert from 'node:assert/strict';
import { test } from 'node:test';

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { onEachDatabase } from '../../support/each-database.ts';
import { EventReceiver, receiverCa } from '../../support/event-receiver.ts';
import { MailServer, OtlpReceiver, SyslogReceiver } from '../../support/event-targets.ts';
import { rounds } from '../../support/long-form.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { Running } from './support/running.ts';
import { randomBetween, until } from './support/waiting.ts';

const kills = rounds(2, 30);
const eventsOfRound = 60;

onEachDatabase(`the process that sends events is killed ${kills} times`, (newDatabase) => {
  test('every event arrives once or more, none is missing, and each comes first behind the one before it', async () => {
    const database = await newDatabase();
    await using receiver = await EventReceiver.start();
    await using syslog = await SyslogReceiver.start('tls');
    await using collector = await OtlpReceiver.start();
    await using mail = await MailServer.start();
    const folder = scratchFolder();
    await using started = new AsyncDisposableStack();
    const settings = {
      'upstream-ca': receiverCa,
      'event-files': folder,
      'smtp-url': mail.url,
      'smtp-from': 'gatehouse@example.com',
      'smtp-seconds': '1',
      'smtp-hourly': '10000',
    };
    const start = async () => started.use(await Running.start(database, settings));
    let sender = await start();
    let other = await start();
    const targets = [
      receiver.destination.target,
      { syslog: { host: 'localhost', port: syslog.port } },
      { otlp: { url: collector.url } },
      { file: { name: 'events.jsonl' } },
      { email: { to: ['ops@example.com'] } },
    ];
    const ids: string[] = [];
    for (const target of targets) ids.push((await sender.create('/event_destinations', { target })).id);
    const sources = [{ type: 'ip_policy_created.v0' }];
    await sender.create('/event_subscriptions', { sources, destination_ids: ids });
    const names: string[] = [];
    const descriptionOf = ({ event }: { readonly event: { readonly object: { readonly description: string } } }) =>
      event.object.description;
    const others = new Map<string, () => readonly string[]>([
      ['syslog', () => syslog.messages.map(descriptionOf)],
      ['the collector', () => collector.records.map(descriptionOf)],
      ['the file', () => readLines(folder)],
      [
        'people',
        () =>
          mail.mails.flatMap(({ text }) =>
            [...text.matchAll(/^IP policy created: (.*?)\r?$/gm)].map(([, name = '']) => name),
          ),
      ],
    ]);
    for (let kill = 1; kill <= kills; kill++) {
      const before = names.length;
      const writing = (async () => {
        for (let count = 0; count < eventsOfRound; count++) {
          const description = `event ${names.length}`;
          await other.create('/ip_policies', { description });
          names.push(description);
        }
      })();
      const goal = before + randomBetween(1, eventsOfRound);
      await until('some have arrived', () => new Set(receiver.descriptions).size >= goal);
      await sender.kill();
      await writing;
      await until('all have arrived', () => new Set(receiver.descriptions).size >= names.length);
      for (const [target, come] of others)
        await until(`all have arrived at ${target}`, () => new Set(come()).size >= names.length);
      // The one that is left has the lease, and is killed next.
      if (kill < kills) [sender, other] = [other, await start()];
    }
    for (const [target, come] of others) assert.deepEqual([...new Set(come())], names, target);
    const firsts = [...new Set(receiver.descriptions)];
    assert.deepEqual(firsts, names);
    assert.ok(receiver.received.every(({ isSigned }) => isSigned));
    const eventIds = new Map(receiver.received.map(({ id: eventId, body }) => [eventId, body.object.id]));
    assert.equal(eventIds.size, names.length, 'an event that comes again has the id that it had');
  });
});

/** Descriptions in the file of the only account. */
function readLines(folder: string): readonly string[] {
  const [account] = readdirSync(folder);
  const path = join(folder, account ?? '', 'events.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  // A process may have died while it wrote a line, which is there once more then.
  return lines.flatMap((line) => (line.endsWith('}}') ? [String(JSON.parse(line).object.description)] : []));
}
