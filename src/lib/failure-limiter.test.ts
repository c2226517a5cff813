import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FailureLimiter } from './failure-limiter.ts';
import type { SourceFailures } from './failure-counts.ts';
import type { FailureAnswer, FailureLimits } from './failure-limiter.ts';
import { parseIp } from './ip/address.ts';

interface Report {
  readonly sources: readonly SourceFailures[];
  readonly others: Omit<SourceFailures, 'source'>;
}

function newLimiter(limits: Partial<FailureLimits>) {
  const reports: Report[] = [];
  const limiter = new FailureLimiter({ prompt: 2, slowed: 0, held: 10, sources: 100, ...limits }, (sources, others) =>
    reports.push({ sources, others }),
  );
  const fail = async (text: string) => {
    const address = parseIp(text);
    assert.ok(address, text);
    return limiter.failed(address);
  };
  const answers = async (texts: readonly string[]): Promise<readonly FailureAnswer[]> => {
    const all: FailureAnswer[] = [];
    for (const text of texts) all.push((await fail(text)).answer);
    return all;
  };
  return { limiter, fail, answers, reports };
}

test('the first failures of a source are answered at once, the next ones late, all others refused', async () => {
  const { answers, fail } = newLimiter({ prompt: 3, slowed: 2 });
  const here = Array.from({ length: 3 }, () => '203.0.113.7');
  assert.deepEqual(await answers(here), ['prompt', 'prompt', 'prompt']);
  for (let count = 0; count < 2; count++) {
    const beganMs = performance.now();
    assert.equal((await fail('203.0.113.7')).answer, 'slowed');
    assert.ok(performance.now() - beganMs > 900);
  }
  const { answer, source, retryAfterSeconds } = await fail('203.0.113.7');
  assert.deepEqual([answer, source], ['refused', '203.0.113.7']);
  assert.ok(retryAfterSeconds >= 1 && retryAfterSeconds <= 60);
  assert.equal((await fail('203.0.113.8')).answer, 'prompt');
});

test('the addresses of one IPv6 /64 count together, and an IPv4-mapped address counts as IPv4', async () => {
  const { answers, fail } = newLimiter({ prompt: 2 });
  assert.deepEqual(await answers(['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:1::3']), [
    'prompt',
    'prompt',
    'refused',
  ]);
  assert.deepEqual(await answers(['2001:db8:0:2::1', '2001:db8::1']), ['prompt', 'prompt']);
  assert.equal((await fail('2001:db8:0:1::9')).source, '2001:db8:0:1::/64');
  assert.deepEqual(await answers(['::ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1']), [
    'prompt',
    'prompt',
    'refused',
  ]);
});

test('late answers are held up to a limit, beyond which failures are refused at once', async () => {
  const { fail, answers } = newLimiter({ prompt: 0, slowed: 100, held: 2 });
  const all = await Promise.all(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1'].map(fail));
  assert.deepEqual(
    all.map(({ answer }) => answer),
    ['slowed', 'slowed', 'refused', 'refused'],
  );
  assert.deepEqual(await answers(['192.0.2.3']), ['slowed'], 'a place is free again');
});

test('sources beyond the limit share one count, however many there are', async () => {
  const { answers, limiter, reports } = newLimiter({ prompt: 2, sources: 3 });
  const sources = Array.from({ length: 3 }, (_, at) => `2001:db8:${at}::1`);
  assert.deepEqual(await answers(sources), ['prompt', 'prompt', 'prompt']);
  const flood = await answers(Array.from({ length: 500 }, (_, at) => `2001:db8:ffff:${at.toString(16)}::1`));
  assert.deepEqual(flood.slice(0, 3), ['prompt', 'prompt', 'refused']);
  assert.equal(flood.filter((answer) => answer === 'refused').length, 498);
  assert.deepEqual(await answers(sources), ['prompt', 'prompt', 'prompt']);
  limiter.endWindow();
  assert.equal(reports[0]?.sources.length, 3);
  assert.deepEqual(reports[0].others, { failures: 500, refused: 498 });
});

test('a window is reported once, with the sources that failed most, and then all are counted anew', async () => {
  const { answers, limiter, reports } = newLimiter({ prompt: 2, sources: 1_000 });
  await answers(['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2']);
  await answers(Array.from({ length: 150 }, (_, at) => `198.51.100.${at}`));
  limiter.endWindow();
  limiter.endWindow();
  assert.equal(reports.length, 1);
  const [{ sources, others }] = reports as [Report];
  assert.deepEqual(sources[0], { source: '192.0.2.2', failures: 3, refused: 1 });
  assert.equal(sources.length, 100);
  assert.deepEqual(others, { failures: 52, refused: 0 });
  assert.deepEqual(await answers(['192.0.2.2', '192.0.2.2', '192.0.2.2']), ['prompt', 'prompt', 'refused']);
  limiter[Symbol.dispose]();
  assert.equal(reports.length, 2);
});
