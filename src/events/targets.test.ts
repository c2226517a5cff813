import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onAnyDatabase } from '../../test/support/each-database.ts';
import { receiverCa } from '../../test/support/event-receiver.ts';
import { MailServer, OtlpReceiver, SyslogReceiver } from '../../test/support/event-targets.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import type { CallOptions } from '../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import { scratchFolder } from '../../test/support/scratch.ts';

const sources = [{ type: 'ip_policy_created.v0' }];

onAnyDatabase('targets of events', (newDatabase) => {
  const folder = scratchFolder();
  let mail: MailServer | undefined;
  let running: Gatehouse | undefined;
  let rejects = '';
  before(async () => {
    mail = await MailServer.start({
      onRcptTo: ({ address }, _session, done) =>
        done(rejects !== '' && address.includes(rejects) ? new Error('no such mailbox') : undefined),
    });
    running = await Gatehouse.start(await newDatabase(), {
      upstreamCa: receiverCa,
      eventFiles: folder,
      eventFilesMaxSize: '16',
      smtpUrl: mail.url,
      smtpFrom: 'gatehouse@example.com',
      smtpHourly: '3',
    });
  });
  after(async () => {
    await running?.[Symbol.asyncDispose]();
    await mail?.[Symbol.asyncDispose]();
  });
  const g = () => running ?? assert.fail('the Gatehouse runs only while tests do');
  const mails = () => mail?.mails ?? assert.fail('so does the mail server');

  const newAccount = async () => {
    const accountId = await createAccount(g());
    return { accountId, token: (await createUser(g(), 'admin', accountId)).token };
  };
  const subscribe = async (target: object, own: CallOptions): Promise<string> => {
    const { id } = await g().create('/event_destinations', { target }, own);
    await g().create('/event_subscriptions', { sources, destination_ids: [id] }, own);
    return id;
  };
  const make = async (names: readonly string[], own: CallOptions) => {
    for (const description of names) await g().create('/ip_policies', { description }, own);
  };
  const stateOf = async (id: string, own: CallOptions) =>
    (await g().get(`/event_destinations/${id}`, own)).body.delivery;
  const names = ['one', 'two "quoted"\n<13>1 - - - - - - forged', 'three ümläut', 'four'];
  const come = (list: readonly unknown[], count: number) =>
    until(
      () => list.length >= count,
      () => `${list.length} of ${count} have come`,
    );

  for (const protocol of ['tls', 'tcp'] as const)
    test(`syslog over ${protocol} gets every event in order, each a message of RFC 5424`, async () => {
      await using receiver = await SyslogReceiver.start(protocol);
      const own = await newAccount();
      const id = await subscribe({ syslog: { host: 'localhost', port: receiver.port, protocol } }, own);
      await make(names, own);
      await come(receiver.messages, names.length);
      assert.deepEqual(
        receiver.messages.map(({ event }) => event.object.description),
        names,
      );
      assert.match(receiver.messages[0]?.head ?? '', /^<133>1 \S+ \S+ gatehouse - ip_policy_created\.v0 -$/);
      await until(async () => (await stateOf(id, own)).sent_at !== null, 'it is noted');
      assert.equal(receiver.messages.length, names.length, 'nothing came twice');
    });

  test('syslog over UDP sends what fits in a datagram, and the short form of what does not', async () => {
    await using receiver = await SyslogReceiver.udp();
    const own = await newAccount();
    await subscribe({ syslog: { host: 'localhost', port: receiver.port, protocol: 'udp' } }, own);
    await g().create('/ip_policies', { description: 'long', metadata: 'ü'.repeat(1_500) }, own);
    await make(['short'], own);
    await come(receiver.messages, 2);
    const [long, short] = receiver.messages;
    assert.deepEqual([long?.event.truncated, long?.event.object.description], [true, undefined]);
    assert.match(long?.event.object.id, /^ipp_/);
    assert.equal(short?.event.object.description, 'short');
  });

  test('a syslog receiver that is cut off, one that hangs and one that leads inwards are told of, and nothing is lost', async () => {
    const own = await newAccount();
    const sockets: Socket[] = [];
    await using broken = await SyslogReceiver.start('tcp', (socket) => void socket.destroy());
    await using talking = await SyslogReceiver.start('tcp', (socket) => {
      const talk = () => {
        while (!socket.destroyed && socket.write('x'.repeat(1_000)));
        socket.once('drain', talk);
      };
      talk();
    });
    await using hanging = await SyslogReceiver.start('tcp', (socket) => void sockets.push(socket));
    const port = Number(new URL(g().url).port);
    const ids = new Map([
      [await subscribe({ syslog: { host: '127.0.0.1', port: talking.port, protocol: 'tcp' } }, own), /sends too much/],
      [
        await subscribe({ syslog: { host: '127.0.0.1', port: broken.port, protocol: 'tcp' } }, own),
        /closed|ECONNRESET|ended/,
      ],
      [
        await subscribe({ syslog: { host: '127.0.0.1', port: hanging.port, protocol: 'tcp' } }, own),
        /did not answer in 10/,
      ],
      [await subscribe({ syslog: { host: 'localhost', port, protocol: 'tcp' } }, own), /which is refused: api/],
      [await subscribe({ syslog: { host: '169.254.169.254', protocol: 'udp' } }, own), /which is refused: link_local/],
    ]);
    await make(['one'], own);
    for (const [id, said] of ids) {
      await until(async () => (await stateOf(id, own)).status === 'failing', `it is told: ${said}`);
      const { last_error, sent_at } = await stateOf(id, own);
      assert.match(last_error, said);
      assert.equal(sent_at, null);
    }
  });

  test('a collector gets every event as a log record, with the headers that only it is told', async () => {
    await using receiver = await OtlpReceiver.start();
    const own = await newAccount();
    const id = await subscribe({ otlp: { url: receiver.url } }, own);
    await make(names, own);
    await come(receiver.records, names.length);
    assert.deepEqual(
      receiver.records.map(({ path, event }) => [path, event.object.description]),
      names.map((name) => ['/v1/logs', name]),
    );
    assert.deepEqual((await g().get(`/event_destinations/${id}`, own)).body.target.otlp, {
      url: receiver.url,
      header_names: [],
    });
  });

  test('a record that a collector rejects is not sent again, and is kept', async () => {
    await using receiver = await OtlpReceiver.start();
    receiver.answer = JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too\nlong' } });
    const own = await newAccount();
    const id = await subscribe({ otlp: { url: `${receiver.url}/v1/logs` } }, own);
    await make(['one', 'two'], own);
    await until(async () => (await stateOf(id, own)).undelivered === 2, 'both are kept');
    assert.equal(receiver.records.length, 2);
    assert.equal((await stateOf(id, own)).last_error, 'it rejected the log record: too long');
    receiver.answer = '{}';
    await g().post(`/event_destinations/${id}/resend`, undefined, own);
    await until(async () => (await stateOf(id, own)).undelivered === 0, 'both have arrived');
    assert.equal(receiver.records.length, 4);
  });

  describe('files', () => {
    const linesOf = (accountId: string, name: string) =>
      readFileSync(join(folder, accountId, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).object.description);

    test('a file of the account gets a line for each event, and a torn line stays one', async () => {
      const own = await newAccount();
      const other = await newAccount();
      await subscribe({ file: { name: 'events.jsonl' } }, own);
      await subscribe({ file: { name: 'events.jsonl' } }, other);
      const path = join(folder, own.accountId, 'events.jsonl');
      mkdirSync(join(folder, own.accountId));
      writeFileSync(path, '{"object":{"description":"torn"}}');
      await make(names, own);
      await make(['of another'], other);
      await until(() => linesOf(own.accountId, 'events.jsonl').length >= 5, 'they are written');
      assert.deepEqual(linesOf(own.accountId, 'events.jsonl'), ['torn', ...names]);
      await until(() => existsSync(join(folder, other.accountId, 'events.jsonl')), 'the other has its own');
    });

    test('a file that is full gets a number, the oldest goes, and beyond the bound nothing is written', async () => {
      const own = await newAccount();
      const id = await subscribe({ file: { name: 'e' } }, own);
      const home = join(folder, own.accountId);
      mkdirSync(home);
      const mebibytes = (count: number) => `${'x'.repeat(count * 1024 * 1024 - 1)}\n`;
      writeFileSync(join(home, 'e.1'), mebibytes(9));
      writeFileSync(join(home, 'e'), mebibytes(8));
      await make(['one'], own);
      await until(() => readFileSync(join(home, 'e'), 'utf8').startsWith('{'), 'a new one begins');
      assert.deepEqual(linesOf(own.accountId, 'e'), ['one']);
      assert.deepEqual(readdirSync(home).toSorted(), ['e', 'e.1'], 'the one of 9 MiB is gone');
      appendFileSync(join(home, 'other'), mebibytes(16));
      await make(['two'], own);
      await until(async () => (await stateOf(id, own)).status === 'failing', 'there is no room');
      assert.match((await stateOf(id, own)).last_error, /have reached 16777216 bytes; delete one/);
    });

    test('names that lead out of the folder, and those of full files, are refused', async () => {
      for (const name of ['../e', '/etc/passwd', '.', '..', '.e', 'a/b', 'e.1', 'e\n', ''])
        assert.equal((await g().post('/event_destinations', { target: { file: { name } } })).status, 400, name);
    });
  });

  describe('e-mail', () => {
    const to = (target: string) => mails().filter((each) => each.to.includes(target));

    test('what happens within a minute comes as one message, and nobody can add a header', async () => {
      const own = await newAccount();
      const address = 'joined@example.com';
      const id = await subscribe({ email: { to: [address, 'second@example.com'] } }, own);
      const [first, ...others] = ['x\r\nBcc: victim@example.com\r\n\r\nhello', ...names];
      await make([first], own);
      await until(() => to(address).length === 1, 'the first one comes at once');
      await make(others, own);
      const [mail1] = to(address);
      const [head = ''] = mail1?.text.split('\r\n\r\n') ?? [];
      assert.deepEqual([mail1?.from, mail1?.to], ['gatehouse@example.com', [address, 'second@example.com']]);
      assert.doesNotMatch(head, /^bcc/im);
      assert.match(head, /^Subject: \[Gatehouse\] IP policy created: x {2}Bcc: victim@example.com/m);
      assert.match(head, /^Auto-Submitted: auto-generated$/m);
      await until(async () => (await stateOf(id, own)).sent_at !== null, 'it is noted');
      const { store } = g().app.context;
      const sql = 'UPDATE event_deliveries SET sent_at = $2 WHERE destination_id = $1';
      await store.writeUnlogged(async (writer) => writer.run(sql, [id, '2020-01-01T00:00:00Z']));
      await g().post(`/event_destinations/${id}/resend`, undefined, own);
      await until(() => to(address).length === 2, 'the others follow');
      assert.match(to(address)[1]?.text ?? '', /^Subject: \[Gatehouse\] .* and 3 more$/m);
      assert.equal(to('victim@example.com').length, 0);
    });

    test('an account has its share of an hour, which takes nothing from others', async () => {
      const [own, other] = [await newAccount(), await newAccount()];
      const flooding = await g().create(
        '/event_destinations',
        { target: { email: { to: ['flood@example.com'] } } },
        own,
      );
      const tried = async () => (await g().post(`/event_destinations/${flooding.id}/test`, undefined, own)).body;
      for (let count = 0; count < 3; count++) assert.deepEqual(await tried(), { delivered: true, error: null });
      assert.deepEqual(await tried(), { delivered: false, error: 'the account has sent 3 messages within an hour' });
      const id = await subscribe({ email: { to: ['flood@example.com'] } }, own);
      await make(['late'], own);
      await until(async () => (await stateOf(id, own)).last_error !== null, 'it waits, and says so');
      assert.equal((await stateOf(id, own)).status, 'ok', 'nothing is wrong with the destination');
      await subscribe({ email: { to: ['calm@example.com'] } }, other);
      await make(['at once'], other);
      await until(() => to('calm@example.com').length === 1, 'the other account has its message');
      assert.equal(to('flood@example.com').length, 3);
    });

    test('an address that is not accepted is told, and others get the message once', async () => {
      const own = await newAccount();
      rejects = 'gone';
      const id = await subscribe({ email: { to: ['here@example.com', 'gone@example.com'] } }, own);
      const nobody = await subscribe({ email: { to: ['gone@example.com'] } }, own);
      await make(['one'], own);
      await until(async () => (await stateOf(id, own)).last_error !== null, 'it is told');
      const { status, last_error } = await stateOf(id, own);
      assert.deepEqual([status, last_error], ['ok', 'the mail server did not accept gone@example.com']);
      await until(async () => (await stateOf(nobody, own)).status === 'failing', 'nobody has it');
      assert.equal(to('here@example.com').length, 1);
      rejects = '';
    });

    test('addresses that are none, or carry more than one, are refused', async () => {
      const bad = [
        'a',
        'a@b\r\nc',
        'a@b,c@d',
        '"a b"@c',
        'a@b>',
        '<a@b',
        'a@[127.0.0.1]',
        `${'a'.repeat(65)}@b`,
        'a@b@c',
      ];
      for (const address of bad)
        assert.equal(
          (await g().post('/event_destinations', { target: { email: { to: [address] } } })).status,
          400,
          address,
        );
    });
  });

  test('a test event is sent at once, and its fate is told', async () => {
    await using receiver = await OtlpReceiver.start();
    const own = await newAccount();
    const { id } = await g().create('/event_destinations', { target: { otlp: { url: receiver.url } } }, own);
    const tried = () => g().post(`/event_destinations/${id}/test`, undefined, own);
    assert.deepEqual((await tried()).body, { delivered: true, error: null });
    assert.equal(receiver.records[0]?.event.event_type, 'test.v0');
    await receiver[Symbol.asyncDispose]();
    const { delivered, error } = (await tried()).body;
    assert.deepEqual([delivered, /ECONNREFUSED/.test(error)], [false, true]);
    const other = await newAccount();
    assert.equal((await g().post(`/event_destinations/${id}/test`, undefined, other)).status, 404);
  });

  test('headers of a collector are sealed, kept while its URL stays, and never shown', async () => {
    const url = 'https://collector.example.com:4318';
    const headers = [{ name: 'Authorization', value: 'Bearer hush-hush' }];
    const { id } = await g().create('/event_destinations', { target: { otlp: { url, headers } } });
    const path = `/event_destinations/${id}`;
    for (const shown of [path, '/event_destinations', `/changes?resource_id=${id}`])
      assert.doesNotMatch((await g().get(shown)).text, /hush/);
    assert.deepEqual((await g().get(path)).body.target.otlp, { url, header_names: ['authorization'] });
    assert.equal((await g().patch(path, { target: { otlp: { url } } })).status, 200);
    assert.deepEqual((await g().get(path)).body.target.otlp.header_names, ['authorization']);
    assert.match((await g().patch(path, { target: { otlp: { url: `${url}1` } } })).body.msg, /kept only while the URL/);
    const refused = async (given: object, said: RegExp) =>
      assert.match((await g().post('/event_destinations', { target: { otlp: { url, ...given } } })).body.msg, said);
    await refused({ url: 'http://collector.example.com', headers }, /only sent to https/);
    await refused({ headers: [{ name: 'Host', value: 'x' }] }, /cannot be chosen/);
    await refused({ headers: [{ name: 'a b', value: 'x' }] }, /no name of a header/);
    await refused({ headers: [{ name: 'a', value: 'hush\r\nb: c' }] }, /characters that a header cannot have/);
    await refused({ headers: [...headers, ...headers] }, /more than once/);
  });
});

onAnyDatabase('targets that the operator has not provided', (newDatabase) => {
  test('are refused, and say what is missing', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const refusal = async (target: object) => (await gatehouse.post('/event_destinations', { target })).body.msg;
    assert.match(await refusal({ file: { name: 'e' } }), /GATEHOUSE_EVENT_FILES/);
    assert.match(await refusal({ email: { to: ['a@example.com'] } }), /GATEHOUSE_SMTP_URL/);
    assert.match(await refusal({ file: { name: 'e' }, email: { to: ['a@example.com'] } }), /has 2/);
  });
});
