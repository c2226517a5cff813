import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { failAt } from '../../../test/support/database-faults.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { newId } from '../../lib/ids.ts';
import type { VisitorSession } from '../../modules/sign-in.ts';
import type { KeptLogin } from '../../sign-in/kept-logins.ts';
import { keptLogins } from './service.ts';

const now = Math.floor(Date.now() / 1000);

function loginOf(value: string): KeptLogin {
  const visitor = {
    subject: 'ada',
    email: 'ada@example.com',
    emailVerified: true,
    name: 'Ada',
    groups: [],
    claims: {},
  };
  return { token: { kind: 'refresh', value }, visitor };
}

onEachGatehouse('logins behind sessions', (g) => {
  const kept = () => g().app.context.services.get(keptLogins);
  const begun = async (login = loginOf('one')) => {
    const { id } = await g().create('/ip_policies');
    const [row] = await g().app.context.store.queries.all('SELECT account_id FROM ip_policies WHERE id = $1', [id]);
    const session: VisitorSession = {
      id: newId('as'),
      accountId: String(row?.[0]),
      edgeId: 'edghts_1',
      routeId: 'edghtsrt_1',
      host: 'app.example.com',
      provider: { name: 'oidc', url: 'https://id.example.com' },
      subject: 'ada',
      email: undefined,
      name: undefined,
      groups: [],
      source: '192.0.2.1',
      userAgent: '',
      signedInAt: now,
      seenAt: now,
      expiresAt: now + 86_400,
      endsAt: now + 86_400,
    };
    await kept().keep(session, login);
    return session;
  };
  const claim = ({ id: sessionId, accountId }: VisitorSession, at: number, checkSeconds = 600, former?: KeptLogin) =>
    kept().claim({ sessionId, accountId, now: at, checkSeconds, former });

  test('one of those who want to ask may, and the others hear of the outcome', async () => {
    const session = await begun();
    assert.deepEqual(await claim(session, now + 599), { state: 'asked', login: loginOf('one'), checkedAt: now });
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(session, now + 600)));
    assert.deepEqual(claims.map(({ state }) => state).toSorted(), [...Array(7).fill('asking'), 'claimed']);
    await kept().release(session, now + 602, loginOf('two'));
    assert.deepEqual(await claim(session, now + 700), { state: 'asked', login: loginOf('two'), checkedAt: now + 602 });
    assert.deepEqual(await claim(session, now + 1202), { state: 'claimed', login: loginOf('two') });
    await kept().release(session, now + 1202, undefined);
    assert.deepEqual(await claim(session, now + 1802), { state: 'claimed', login: loginOf('two') }, 'nothing was said');
  });

  test('who asks has a minute, however short the interval is, and is then taken for gone', async () => {
    const session = await begun();
    assert.equal((await claim(session, now + 5, 1)).state, 'claimed');
    assert.equal((await claim(session, now + 64, 1)).state, 'asking');
    assert.equal((await claim(session, now + 65, 86_400)).state, 'claimed');
  });

  test('a clock that was ahead, and was set right, keeps nobody from being asked', async () => {
    const session = await begun();
    await kept().release(session, now + 86_400, undefined);
    assert.equal((await claim(session, now + 86_400 - 299)).state, 'asked', 'clocks may differ a little');
    assert.equal((await claim(session, now)).state, 'claimed');
  });

  test('nothing is known of a session that is gone, or was begun without a check', async () => {
    const session = await begun();
    const { store } = g().app.context;
    await store.writeUnlogged((writer) =>
      writer.run('UPDATE app_sessions SET login = NULL WHERE id = $1', [session.id]),
    );
    assert.equal((await claim(session, now + 600)).state, 'gone');
    const claims = await Promise.all([1, 2].map(() => claim(session, now + 600, 600, loginOf('former'))));
    assert.deepEqual(claims.map(({ state }) => state).toSorted(), ['asking', 'claimed'], 'a former one is taken once');
    await kept().release(session, now + 600, loginOf('next'));
    const again = await claim(session, now + 1200, 600, loginOf('former'));
    assert.deepEqual(again, { state: 'claimed', login: loginOf('next') });
    assert.equal((await g().delete(`/app/sessions/${session.id}`)).status, 204);
    assert.equal((await claim(session, now + 600, 600, loginOf('former'))).state, 'gone');
  });

  test('an outcome that finds no database is written when there is one', async () => {
    const session = await begun();
    assert.equal((await claim(session, now + 600)).state, 'claimed');
    const outage = failAt(1, 'lost', true);
    await kept().release(session, now + 600, loginOf('two'));
    outage.end();
    await until(async () => (await claim(session, now + 601)).state === 'asked', 'the outcome is written');
    assert.deepEqual(await claim(session, now + 601), { state: 'asked', login: loginOf('two'), checkedAt: now + 600 });
  });
});
