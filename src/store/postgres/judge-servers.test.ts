import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgeServers } from './judge-servers.ts';
import type { Heard } from './judge-servers.ts';

type Given = Partial<Heard['report']> & { readonly isSilent?: boolean };

/** Judges servers that are called a, b and so on; each is a primary on timeline 1 unless it says otherwise. */
function judge(servers: readonly Given[], systemBefore?: string): string {
  const heard = servers.map(({ isSilent = false, ...given }, at): [string, Heard] => {
    const usual = { takesWrites: true, startedAt: String(at), system: 's', timeline: 1 };
    return ['abc'[at] ?? '', { report: { ...usual, ...given }, isSilent }];
  });
  const verdict = judgeServers(new Map(heard), systemBefore);
  if ('url' in verdict) return verdict.url;
  return `${verdict.isSilence ? 'silence' : 'contradiction'}: ${verdict.reason}`;
}

const standby = { takesWrites: false };
const silent = { isSilent: true };

test('the only server that takes writes is the database', () => {
  assert.equal(judge([{}]), 'a');
  assert.equal(judge([standby, {}, standby]), 'b');
  assert.equal(judge([standby, {}, { ...standby, ...silent }], 's'), 'b');
});

test('of two that take writes the one on the higher timeline is, whatever their order', () => {
  assert.equal(judge([{ timeline: 2 }, {}]), 'a');
  assert.equal(judge([{}, { timeline: 2 }, standby]), 'b');
  assert.equal(judge([{ timeline: 9 }, { timeline: 10 }]), 'b');
});

test('an old primary is not while another server, also a standby or a silent one, is ahead of it', () => {
  for (const ahead of [silent, standby, { ...standby, ...silent }]) {
    assert.match(judge([{}, { timeline: 2, ...ahead }], 's'), /^contradiction: .*timeline 1, where 2 was seen/);
  }
  assert.equal(judge([{}, { timeline: 1, ...standby }], 's'), 'a');
});

test('two on one timeline are none, unless both addresses lead to one server', () => {
  assert.match(
    judge([{ timeline: 2 }, { timeline: 2 }]),
    /^contradiction: two servers of it take writes on timeline 2/,
  );
  assert.equal(judge([{ startedAt: 'x' }, { startedAt: 'x' }]), 'a');
  assert.equal(judge([{ timeline: 2 }, { timeline: 2, ...silent }]), 'a');
});

test('a server of another system than before is not, also on a higher timeline', () => {
  assert.match(judge([{ system: 'other', timeline: 9 }], 's'), /^contradiction: it is another database system/);
  assert.equal(judge([{ system: 'other', timeline: 9 }, {}], 's'), 'b');
  assert.match(judge([{ system: 'other', timeline: 9 }, {}]), /^contradiction: .*several database systems/);
  assert.match(judge([{ system: 'other' }, { ...standby }], 's'), /^contradiction: it is another database system/);
});

test('servers that do not tell their system and timeline are judged by who takes writes', () => {
  const untold = { system: '', timeline: 0 };
  assert.equal(judge([{ ...untold, ...standby }, untold], ''), 'b');
  assert.match(judge([untold, untold], ''), /^contradiction: two servers/);
});

test('where none takes writes, it is silence if one that took them does not answer', () => {
  assert.match(judge([silent, standby], 's'), /^silence: no server of it takes writes/);
  assert.match(judge([standby, standby], 's'), /^contradiction: no server of it takes writes/);
  assert.match(judge([standby, { ...standby, ...silent }], 's'), /^contradiction/);
  assert.match(judge([]), /^contradiction: no server/);
});
