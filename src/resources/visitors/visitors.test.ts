import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { newId } from '../../lib/ids.ts';
import type { VisitorSession } from '../../modules/sign-in.ts';
import { renew } from './keys.ts';
import { visitors } from './service.ts';

onGatehousesInTurn('people who have signed in', (g) => {
  const account = async () => {
    const { id } = await g().create('/ip_policies');
    const [row] = await g().app.context.store.queries.all('SELECT account_id FROM ip_policies WHERE id = $1', [id]);
    return String(row?.[0]);
  };
  const seen = async (more: Partial<VisitorSession> = {}) => {
    const kept = g().app.context.services.get(visitors);
    const now = Math.floor(Date.now() / 1000);
    const session: VisitorSession = {
      id: newId('as'),
      accountId: await account(),
      edgeId: 'edghts_1',
      routeId: 'edghtsrt_1',
      host: 'app.example.com',
      provider: { name: 'oidc', url: 'https://id.example.com' },
      subject: newId('x'),
      email: 'ada@example.com',
      name: 'Ada',
      groups: ['ops'],
      source: '192.0.2.1',
      userAgent: 'Mozilla/5.0',
      signedInAt: now,
      seenAt: now,
      expiresAt: now + 600,
      endsAt: now + 3600,
      ...more,
    };
    kept.visitorSeen(session);
    await kept.flush();
    return session;
  };

  test('a session and its user are listed, found and ended', async () => {
    const { id, subject } = await seen();
    const { status, body } = await g().get(`/app/sessions/${id}`);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.public_url, body.email, body.groups, body.endpoint],
      ['https://app.example.com', 'ada@example.com', ['ops'], null],
    );
    const { user_agent, ip_address, location } = body.browser_session;
    assert.deepEqual(
      [user_agent.raw, user_agent.browser_name, ip_address, location],
      ['Mozilla/5.0', '', '192.0.2.1', null],
    );
    const user = (await g().get(`/app/users/${body.application_user.id}`)).body;
    assert.deepEqual([user.provider_user_id, user.name], [subject, 'Ada']);
    const filter = encodeURIComponent(`obj.application_user.id == "${user.id}"`);
    assert.equal((await g().get(`/app/sessions?filter=${filter}`)).body.application_sessions.length, 1);
    assert.equal((await g().delete(`/app/sessions/${id}`)).status, 204);
    assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    assert.equal((await g().get(`/app/users/${user.id}`)).status, 200);
    // What a gateway tells a moment later does not bring it back.
    await seen({ id, subject });
    assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
  });

  test('one user has several sessions, which end with the user', async () => {
    const first = await seen();
    const second = await seen({ subject: first.subject, email: 'new@example.com', seenAt: first.seenAt + 60 });
    const { application_user } = (await g().get(`/app/sessions/${second.id}`)).body;
    assert.equal((await g().get(`/app/sessions/${first.id}`)).body.application_user.id, application_user.id);
    assert.equal((await g().get(`/app/users/${application_user.id}`)).body.email, 'new@example.com');
    assert.equal((await g().delete(`/app/users/${application_user.id}`)).status, 204);
    for (const { id } of [first, second]) assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    const ended = 'SELECT COUNT(*) FROM ended_app_sessions WHERE id IN ($1, $2)';
    const [row] = await g().app.context.store.queries.all(ended, [first.id, second.id]);
    assert.equal(Number(row?.[0]), 2);
  });

  test('what is over by itself is forgotten', async () => {
    const now = Math.floor(Date.now() / 1000);
    const { id } = await seen({ expiresAt: now - 1, endsAt: now - 1 });
    g()
      .app.context.services.get(visitors)
      .visitorLeft({ id: newId('as'), accountId: await account(), endsAt: now - 1 });
    await g().app.context.services.get(visitors).flush();
    assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    const [row] = await g().app.context.store.queries.all(
      'SELECT COUNT(*) FROM ended_app_sessions WHERE ends_at_ms < $1',
      [Date.now()],
    );
    assert.equal(Number(row?.[0]), 0);
  });

  test('a new key takes over after a month, by one of those who try at once', async () => {
    const { context } = g().app;
    const count = async () => Number((await context.store.queries.all('SELECT COUNT(*) FROM visitor_keys'))[0]?.[0]);
    const before = await count();
    await renew(context);
    assert.equal(await count(), before);
    const later = Date.now() + 31 * 86_400_000;
    await Promise.all([renew(context, later), renew(context, later), renew(context, later)]);
    assert.equal(await count(), before + 1);
    await renew(context, later + 500 * 86_400_000);
    assert.equal(await count(), 1, 'old ones go');
  });
});
