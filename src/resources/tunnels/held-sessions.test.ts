import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AgentSession } from '../../agents/server/agent-session.ts';
import { HeldSessions } from './held-sessions.ts';

/** The parts of a session by which it is found. */
function session(id: string, accountId: string): AgentSession {
  return { id, facts: { admission: { accountId } }, tunnels: new Map() } as unknown as AgentSession;
}

test('sessions are found by their account as long as they are held', () => {
  const held = new HeldSessions();
  const all = [session('a', 'ac_1'), session('b', 'ac_1'), session('c', 'ac_2')] as const;
  for (const each of all) held.add({ session: each, stored: Promise.resolve() });
  const idsOf = (accountId: string) => held.ofAccount(accountId).map((each) => each.session.id);
  assert.deepEqual([idsOf('ac_1'), idsOf('ac_2'), idsOf('ac_3')], [['a', 'b'], ['c'], []]);
  held.remove(all[0]);
  held.remove(all[2]);
  assert.deepEqual([idsOf('ac_1'), idsOf('ac_2')], [['b'], []]);
});
