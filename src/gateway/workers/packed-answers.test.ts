import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import type { HttpAnswered, HttpDecision } from '../engine.ts';
import { AnswerPacker, unpackAnswers } from './packed-answers.ts';

const perhaps = fc.option(fc.string(), { nil: undefined });
const ms = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
const ids = fc.array(fc.stringMatching(/^[a-z]+_[0-9A-Za-z]{27}$/), { minLength: 1, maxLength: 3 });
const event: fc.Arbitrary<HttpAnswered> = fc.record({
  operationId: perhaps,
  edgeId: perhaps,
  routeId: perhaps,
  source: fc.string(),
  protocol: fc.constantFrom('1.0', '1.1', '2'),
  method: fc.string(),
  host: fc.string(),
  path: fc.string(),
  status: fc.integer({ min: 200, max: 599 }),
  errorCode: fc.option(fc.integer({ min: 1, max: 30_000 }), { nil: undefined }),
  durationMs: ms,
  upstreamMs: fc.option(ms, { nil: undefined }),
});
const decision: fc.Arbitrary<HttpDecision> = fc.record({
  accountId: perhaps,
  warnedBy: fc.option(ids, { nil: undefined }),
  wouldRefuse: perhaps,
  refusedBy: perhaps,
  module: perhaps,
  backendId: perhaps,
  reason: perhaps,
  login: fc.constantFrom('begun', 'back', 'none', undefined),
  person: perhaps,
  version: fc.option(fc.nat(), { nil: undefined }),
  bytesIn: fc.option(fc.nat(), { nil: undefined }),
  bytesOut: fc.option(fc.nat(), { nil: undefined }),
  worker: fc.constant(3),
});

test('events arrive as they were packed, and only once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(event, decision), { maxLength: 20 }), (events) => {
      const packer = new AnswerPacker();
      for (const each of events) packer.add(...each);
      assert.equal(packer.length, events.length);
      const expected = events.map(([one, other]) => [{ ...one }, { ...other }]);
      assert.deepEqual([...unpackAnswers(packer.take(), 3)], expected);
      assert.deepEqual([...unpackAnswers(packer.take())], []);
    }),
  );
});
