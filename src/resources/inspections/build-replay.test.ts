import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InspectedRequest } from '../../observe/inspections.ts';
import { buildReplay } from './build-replay.ts';

const recorded = (over: Partial<InspectedRequest> = {}): InspectedRequest => ({
  inspectionId: 'insp_1',
  accountId: 'ac_1',
  id: 'op_1',
  atMs: 0,
  edgeId: 'ep_inner',
  routeId: 'r',
  source: '192.0.2.1',
  method: 'POST',
  target: '/a?token=[masked]&n=1',
  host: 'app.test',
  protocol: '1.1',
  request: {
    headers: ['Host', 'app.test', 'Authorization', 'Bearer [masked]', 'Content-Length', '2', 'X-One', '1'],
    body: 'hi',
    bodyBytes: 2,
    isBodyWhole: true,
  },
  answer: undefined,
  durationMs: 1,
  isWhole: true,
  leftOut: 0,
  entryId: 'e',
  isTls: true,
  isHeadWhole: true,
  replayOf: undefined,
  ...over,
});

test('a replay is as it was, to the edge that it came to, without what was masked and what is for one connection', () => {
  assert.deepEqual(buildReplay(recorded(), {}, '203.0.113.9'), {
    request: {
      accountId: 'ac_1',
      edgeId: 'e',
      host: 'app.test',
      isTls: true,
      method: 'POST',
      target: '/a?n=1',
      headers: ['X-One', '1'],
      body: Buffer.from('hi').toString('base64'),
      source: '203.0.113.9',
      of: 'op_1',
      isEdited: false,
    },
    leftOut: ['?token', 'authorization'],
  });
});

test('what is given takes the place of what was recorded, and goes to no other host', () => {
  const headers = [
    { name: 'Host', value: 'other.test' },
    { name: 'Authorization', value: 'Bearer mine' },
    { name: 'Transfer-Encoding', value: 'chunked' },
    { name: 'Gatehouse-Replay', value: 'x' },
  ];
  const { request, leftOut } = buildReplay(recorded(), { method: 'PUT', target: '/b', headers, body: 'ü' }, '::1');
  assert.deepEqual(
    [request.method, request.target, request.headers, request.host, request.isEdited, leftOut],
    ['PUT', '/b', ['Authorization', 'Bearer mine'], 'app.test', true, []],
  );
  assert.equal(Buffer.from(request.body, 'base64').toString(), 'ü');
});

test('what cannot be sent as it was, or would be another request, is refused with the reason', () => {
  const { request } = recorded();
  const refused: readonly (readonly [RegExp, Partial<InspectedRequest>, object])[] = [
    [/masked values/, { request: { ...request, body: '{"a":"[masked]"}' } }, {}],
    [/masked values/, {}, { body: '[masked]' }],
    [/no text/, { request: { headers: [], bodyBytes: 2, isBodyWhole: false } }, {}],
    [/start of its body/, { request: { ...request, isBodyWhole: false } }, {}],
    [/longer than is kept/, { isHeadWhole: false }, {}],
    [/longer than is kept/, { isHeadWhole: false }, { target: '/a' }],
    [/another protocol/, { answer: { status: 101, headers: [], bodyBytes: 0, isBodyWhole: true } }, {}],
    [/another protocol/, {}, { method: 'connect' }],
    [/one word/, {}, { method: 'GET /x' }],
    [/begins with "\/"/, {}, { target: 'https://other.test/' }],
    [/begins with "\/"/, {}, { target: '/a HTTP/1.1\r\nX: y' }],
    [/begins with "\/"/, {}, { target: '/a#b' }],
    [/path was masked/, { target: '/reset/[masked]' }, {}],
    [/a name that headers/, {}, { headers: [{ name: 'X Y', value: '1' }] }],
    [/a character that headers/, {}, { headers: [{ name: 'X', value: '1\r\nY: 2' }] }],
    [/12288 characters/, {}, { headers: [{ name: 'X', value: 'a'.repeat(12_300) }] }],
    [/32768 bytes/, {}, { body: 'ü'.repeat(20_000) }],
  ];
  for (const [reason, over, changes] of refused)
    assert.throws(
      () => buildReplay(recorded(over), changes, '::1'),
      reason,
      JSON.stringify([over, changes]).slice(0, 200),
    );
  const whole = { target: '/a', headers: [] };
  assert.equal(buildReplay(recorded({ isHeadWhole: false }), whole, '::1').request.target, '/a');
});
