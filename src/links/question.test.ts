import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { MuxSession } from '../agents/mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { StreamStart } from '../agents/mux/typed-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import { typedStart } from '../agents/wire/stream-types.ts';
import { AbandonedError } from '../lib/pace.ts';
import { LinkServer } from './link-server.ts';
import { Link } from './link.ts';
import { questionType, Unanswered } from './question.ts';
import type { AnswerQuestion } from './question.ts';
import { openNothing } from './stream-request.ts';

const limits = { heardMs: 20_000, answerMs: 20_000 };

const common = { maxUnreadBytes: 2 ** 24, overrun: () => {}, closed: () => {} };

async function socketPair(t: TestContext): Promise<{ near: Socket; far: Socket }> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const near = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(listener, 'connection')) as [Socket];
  t.after(() => {
    near.destroy();
    far.destroy();
    listener.close();
  });
  return { near, far };
}

/** Both ends of a link, over sockets. */
async function startLink(t: TestContext, answer: AnswerQuestion | undefined): Promise<{ link: Link; far: Socket }> {
  const { near, far } = await socketPair(t);
  const server = new LinkServer(far, { ...common, open: openNothing, answer });
  const link = new Link(near, common);
  t.after(() => {
    link.close('the test is over');
    server.close('the test is over');
  });
  return { link, far };
}

const session = { maxLocalStreams: Infinity, maxRemoteStreams: Infinity, maxUnreadBytes: 2 ** 24, carriesAcks: false };
const noEvents = { closed: () => {}, overrun: () => {} };

/** A link to a process that answers each question with these bytes, as they are. */
async function startHostile(t: TestContext, reply: (stream: MuxStream) => void): Promise<Link> {
  const { near, far } = await socketPair(t);
  const quiet: StreamReceiver = { onBytes: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: () => {} };
  const accept = (stream: MuxStream) =>
    new StreamStart(stream, () => {
      reply(stream);
      return quiet;
    });
  const mux = new MuxSession(far, { ...session, role: 'server' }, { ...noEvents, accept });
  const link = new Link(near, common);
  t.after(() => {
    link.close('the test is over');
    mux.close(0, 'the test is over');
  });
  return link;
}

/** A length, and what comes behind it, which may be less. */
function announced(length: number, text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeUInt32BE(length);
  bytes.write(text, 4);
  return bytes;
}

async function untilNoStream(link: Link): Promise<void> {
  for (let looks = 0; link.streams > 0; looks++) {
    assert.ok(looks < 2_000, 'a stream stays open');
    await sleep(5);
  }
}

const tooLong = 0xffff_ffff;
const heard = Buffer.of(1);

const isUnanswered = (isSilent: boolean) => (error: unknown) =>
  error instanceof Unanswered && error.isSilent === isSilent;

test('questions have their answers, many at once and of any size within the bounds', async (t) => {
  const { link } = await startLink(t, async (question) => ({ echo: question }));
  for (const length of [0, 1, 30_000, 60_000]) {
    const question = { text: 'ü'.repeat(length / 2) };
    assert.deepEqual(await link.ask(question, limits), { echo: question });
  }
  const all = await Promise.all(Array.from({ length: 8 }, (_, at) => link.ask({ at }, limits)));
  assert.deepEqual(
    all,
    Array.from({ length: 8 }, (_, at) => ({ echo: { at } })),
  );
  const { link: large } = await startLink(t, async () => ({ text: 'x'.repeat(3 * 2 ** 20) }));
  // The answer of the function above.
  const { text } = (await large.ask({}, limits)) as { readonly text: string };
  assert.equal(text.length, 3 * 2 ** 20);
  assert.equal(large.streams, 0);
});

test('a question or an answer beyond the bounds is refused, and the link goes on', async (t) => {
  const { link } = await startLink(t, async (question) =>
    JSON.stringify(question).includes('long') ? { text: 'x'.repeat(5 * 2 ** 20) } : { is: 'short' },
  );
  await assert.rejects(link.ask({ text: 'x'.repeat(70_000) }, limits), /too long/);
  await assert.rejects(link.ask({ answer: 'long' }, limits), isUnanswered(false));
  assert.deepEqual(await link.ask({}, limits), { is: 'short' });
});

test('more questions at once than a link answers are refused', async (t) => {
  const gate = Promise.withResolvers<object>();
  const { link } = await startLink(t, () => gate.promise);
  const asked = Array.from({ length: 9 }, () =>
    link.ask({}, limits).then(
      () => 'answered',
      () => 'refused',
    ),
  );
  assert.equal(await Promise.race(asked), 'refused');
  gate.resolve({});
  const ends = await Promise.all(asked);
  assert.equal(ends.filter((end) => end === 'answered').length, 8);
});

test('a fault, a side that takes no questions, and a link that breaks are no answers', async (t) => {
  const { link: faulty } = await startLink(t, () => Promise.reject(new Error('secret')));
  await assert.rejects(
    faulty.ask({}, limits),
    (error) => isUnanswered(false)(error) && !String(error).includes('secret'),
  );
  const { link: deaf } = await startLink(t, undefined);
  await assert.rejects(deaf.ask({}, limits), isUnanswered(false));
  const { link: broken, far } = await startLink(t, () => new Promise(() => {}));
  const asked = broken.ask({}, limits);
  far.destroy();
  await assert.rejects(asked, isUnanswered(false));
  await assert.rejects(broken.ask({}, limits), Unanswered);
});

test('one who is silent is told from one who is slow, and learns that nobody waits any more', async (t) => {
  let isAbandoned = (): boolean => false;
  const { link, far } = await startLink(t, (_question, given) => {
    isAbandoned = given;
    return new Promise(() => {});
  });
  await assert.rejects(link.ask({}, { ...limits, answerMs: 300 }), /did not answer in time/);
  while (!isAbandoned()) await sleep(5);
  far.pause();
  await assert.rejects(link.ask({}, { ...limits, heardMs: 100 }), isUnanswered(true));
});

test('one who leaves ends what the other side was asked, at once', async (t) => {
  let isEndedThere = (): boolean => false;
  const { link } = await startLink(t, (_question, given) => {
    isEndedThere = given;
    return new Promise(() => {});
  });
  let isAbandoned = false;
  const asked = link.ask({}, { ...limits, isAbandoned: () => isAbandoned });
  await sleep(250);
  assert.equal(link.streams, 1, 'somebody waits');
  isAbandoned = true;
  await assert.rejects(asked, AbandonedError);
  await untilNoStream(link);
  while (!isEndedThere()) await sleep(5);
});

test('a question that never ends, and one whose asker never closes its side, have an end', async (t) => {
  const { near, far } = await socketPair(t);
  let atOnce = 0;
  const answer = async () => {
    atOnce++;
    return {};
  };
  const server = new LinkServer(far, { ...common, open: openNothing, answer, questionMs: 200 });
  const mux = new MuxSession(near, { ...session, role: 'client' }, { ...noEvents, accept: () => assert.fail() });
  t.after(() => {
    mux.close(0, 'the test is over');
    server.close('the test is over');
  });
  const whole = announced(2, '{}');
  for (const bytes of [Buffer.alloc(0), whole.subarray(0, 3), whole.subarray(0, 5), whole]) {
    const end = await new Promise((resolve) => {
      const receiver: StreamReceiver = { onBytes: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: resolve };
      mux.open(receiver, typedStart(questionType, bytes));
    });
    assert.deepEqual(end, { code: codes.cancelled, by: 'peer' });
  }
  assert.equal(atOnce, 1);
});

test('an announced length beyond the bounds is refused before the bytes come', async (t) => {
  for (const length of [4 * 1024 * 1024 + 1, tooLong]) {
    const link = await startHostile(t, (stream) => stream.write(Buffer.concat([heard, announced(length, '{"a"')])));
    await assert.rejects(link.ask({}, limits), /cannot be read/);
    assert.equal(link.streams, 0);
  }
  const { near, far } = await socketPair(t);
  const asked: unknown[] = [];
  const answer = async (question: unknown) => {
    asked.push(question);
    return {};
  };
  const server = new LinkServer(far, { ...common, open: openNothing, answer });
  const mux = new MuxSession(near, { ...session, role: 'client' }, { ...noEvents, accept: () => assert.fail() });
  t.after(() => {
    mux.close(0, 'the test is over');
    server.close('the test is over');
  });
  const endOf = (length: number) =>
    new Promise((resolve) => {
      const receiver: StreamReceiver = { onBytes: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: resolve };
      mux.open(receiver, typedStart(questionType, announced(length, '{}')));
    });
  // Codes of the protocol: a fault of the peer.
  for (const length of [64 * 1024 + 1, tooLong]) assert.deepEqual(await endOf(length), { code: 1, by: 'peer' });
  // A shorter one than what comes.
  assert.deepEqual(await endOf(1), { code: 1, by: 'peer' });
  assert.deepEqual(asked, []);
});

test('an answer that comes twice, in pieces, or without an end is one answer, and its stream goes', async (t) => {
  const one = announced(2, '{}');
  const twice = await startHostile(t, (stream) => {
    stream.write(Buffer.concat([heard, one]));
    stream.write(one);
  });
  assert.deepEqual(await twice.ask({}, { ...limits, answerMs: 60_000 }), {});
  await untilNoStream(twice);
  const slow = await startHostile(t, (stream) => {
    for (const byte of Buffer.concat([heard, one])) stream.write(Buffer.of(byte));
  });
  assert.deepEqual(await slow.ask({}, { ...limits, answerMs: 400 }), {});
  await untilNoStream(slow);
  const both = await startHostile(t, (stream) => stream.end(Buffer.concat([heard, one, one])));
  await assert.rejects(both.ask({}, limits), /cannot be read/);
});
