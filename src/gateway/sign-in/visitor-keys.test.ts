import assert from 'node:assert/strict';
import { test } from 'node:test';

import { VisitorKeys } from './visitor-keys.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('a cookie has one spelling: others of the same bytes open nothing', () => {
  const keys = new VisitorKeys();
  const secret = Buffer.alloc(32, 1).toString('base64');
  const set = [{ kind: 'visitor_key', id: '1', secret, privateJwk: '{}' }] as const;
  keys.prepare({ version: 1, full: true, removed: [], set }, assert.fail)();
  let spellings = 0;
  for (const plain of ['text', 'texts', 'textss']) {
    const sealed = keys.seal(plain, 'here');
    assert.equal(keys.open(sealed, 'here'), plain);
    const bytes = Buffer.from(sealed.slice(2), 'base64url');
    for (const last of alphabet) {
      const other = `${sealed.slice(0, -1)}${last}`;
      if (other === sealed || !Buffer.from(other.slice(2), 'base64url').equals(bytes)) continue;
      spellings++;
      assert.equal(keys.open(other, 'here'), undefined, last);
    }
  }
  assert.ok(spellings >= 3, `${spellings} other spellings`);
});

test('sessions end by one mark for their account, edge or person, if they were begun until then, and until it is gone', () => {
  const keys = new VisitorKeys();
  const session = { id: 'as_1', accountId: 'ac_1', edgeId: 'edghts_1', person: 'person_1', signedInAt: 100 };
  const update = (id: string, begunUntil: number | undefined, full = false) => {
    const entry = { kind: 'ended_session', id, ...(begunUntil === undefined ? {} : { begunUntil }) } as const;
    keys.prepare({ version: 1, full, removed: [], set: [entry] }, assert.fail)();
  };
  const remove = (id: string) =>
    keys.prepare({ version: 1, full: false, removed: [{ kind: 'ended_session', id }], set: [] }, assert.fail)();
  for (const owner of ['ac_1', 'edghts_1', 'person_1']) {
    update(owner, 99);
    assert.equal(keys.isEnded(session), false, 'one that was begun later goes on');
    update(owner, 100);
    assert.equal(keys.isEnded(session), true, owner);
    assert.equal(keys.isEnded({ ...session, accountId: 'ac_2', edgeId: 'edghts_2', person: 'person_2' }), false);
    const begun = (now: number) => ({ ...session, signedInAt: keys.beginsAt(now, session) });
    assert.deepEqual(
      [90, 100, 101, 200].map((now) => begun(now).signedInAt),
      [101, 101, 101, 200],
    );
    assert.equal(keys.isEnded(begun(100)), false, 'whoever signs in again in the same second is not signed out');
    remove(owner);
    assert.equal(keys.isEnded(session), false);
  }
  update('ac_1', 100);
  update('as_2', undefined, true);
  assert.deepEqual([keys.isEnded(session), keys.isEnded({ ...session, id: 'as_2' })], [false, true]);
});

test('a flood of sign-outs at one account does not bring back what another has ended here', () => {
  const keys = new VisitorKeys();
  const session = { id: 'as_1', accountId: 'ac_1', edgeId: 'edghts_1', person: 'person_1', signedInAt: 100 };
  keys.end('ac_1', 'as_1');
  for (let at = 0; at < 30_000; at++) keys.end('ac_2', `as_flood_${at}`);
  assert.equal(keys.isEnded(session), true);
});

test('sign-outs within a moment have what is open looked through once, and not while that is still done', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const keys = new VisitorKeys();
  const told: (readonly string[])[] = [];
  const { promise: isLookedThrough, resolve } = Promise.withResolvers<undefined>();
  keys.onEnded(async (accounts) => {
    told.push([...accounts]);
    await isLookedThrough;
  });
  for (let at = 0; at < 100; at++) {
    keys.end('ac_1', `as_${at}`);
    t.mock.timers.tick(1);
  }
  keys.end('ac_2', 'as_2');
  assert.deepEqual(told, []);
  t.mock.timers.tick(10_000);
  assert.deepEqual(told, [['ac_1', 'ac_2']]);
  keys.end('ac_3', 'as_3');
  t.mock.timers.tick(10_000);
  assert.equal(told.length, 1);
  resolve(undefined);
  await new Promise(setImmediate);
  t.mock.timers.tick(10_000);
  assert.deepEqual(told.slice(1), [['ac_3']]);
});
