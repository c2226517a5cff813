import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { failAt, ofTest } from '../../../test/support/database-faults.ts';
import type { CallOptions } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser, runOnHost } from '../../../test/support/people.ts';
import { countAgain } from '../../../test/support/quota-counts.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { newId } from '../../lib/ids.ts';
import { personOf } from '../../modules/sign-in.ts';
import type { VisitorSession } from '../../modules/sign-in.ts';
import { markEnded } from './bounds.ts';
import { VisitorKeeper } from './keeper.ts';
import { renew } from './keys.ts';
import { sharedSealer, visitors } from './service.ts';
import { sweep } from './sweep.ts';

const silent = { warn() {}, error() {} };

onEachGatehouse('people who have signed in', (g) => {
  const edge = async (options?: CallOptions) => {
    const { id } = await g().create('/edges/https', {}, options);
    const [row] = await g().app.context.store.queries.all('SELECT account_id FROM https_edges WHERE id = $1', [id]);
    return { edgeId: String(id), accountId: String(row?.[0]) };
  };
  const seen = async (more: Partial<VisitorSession> = {}) => {
    const kept = g().app.context.services.get(visitors);
    const now = Math.floor(Date.now() / 1000);
    const session: VisitorSession = {
      id: newId('as'),
      ...(more.accountId === undefined ? await edge() : { accountId: more.accountId, edgeId: '' }),
      routeId: 'edghtsrt_1',
      host: 'app.example.com',
      provider: { name: 'oidc', url: 'https://id.example.com' },
      subject: newId('x'),
      email: 'ada@example.com',
      name: 'Ada',
      groups: ['ops'],
      source: '192.0.2.1',
      userAgent: 'Mozilla/5.0 Firefox/131.0',
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
      ['Mozilla/5.0 Firefox/131.0', 'Firefox', '192.0.2.1', null],
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
    const early = await seen({ ...second, id: newId('as'), signedInAt: first.signedInAt + 200 });
    const { application_user } = (await g().get(`/app/sessions/${second.id}`)).body;
    assert.equal((await g().get(`/app/sessions/${first.id}`)).body.application_user.id, application_user.id);
    assert.equal((await g().get(`/app/users/${application_user.id}`)).body.email, 'new@example.com');
    assert.equal((await g().delete(`/app/users/${application_user.id}`)).status, 204);
    for (const { id } of [first, second]) assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    const sql = 'SELECT begun_until FROM app_session_marks WHERE id = $1';
    const person = personOf(first.accountId, first.provider.url, first.subject);
    const [row] = await g().app.context.store.queries.all(sql, [person]);
    assert.ok(Number(row?.[0]) >= first.signedInAt, 'one mark for all');
    assert.equal((await g().get(`/app/sessions/${early.id}`)).status, 404);
    await seen({ ...early });
    assert.equal((await g().get(`/app/sessions/${early.id}`)).status, 404, 'one by a clock that was ahead');
    // What a gateway tells a moment later does not bring them back, nor one that nobody had told of.
    for (const id of [first.id, newId('as')]) {
      await seen({ ...first, id });
      assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    }
    const again = await seen({ ...first, id: newId('as'), signedInAt: Number(row?.[0]) + 1 });
    assert.equal((await g().get(`/app/sessions/${again.id}`)).status, 200, 'whoever may can sign in again');
  });

  test('what comes late is not newer: neither a use nor an end goes back', async () => {
    const last = await seen();
    const before = { email: 'old@example.com', name: 'Old', groups: ['old'], source: '192.0.2.9' };
    await seen({ ...last, ...before, seenAt: last.seenAt - 120, expiresAt: last.expiresAt - 120 });
    const at = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');
    const { body } = await g().get(`/app/sessions/${last.id}`);
    assert.deepEqual([body.last_active, body.expires_at], [at(last.seenAt), at(last.expiresAt)]);
    const { groups, browser_session, application_user } = body;
    assert.deepEqual([body.email, groups, browser_session.ip_address], ['ada@example.com', ['ops'], '192.0.2.1']);
    const user = (await g().get(`/app/users/${application_user.id}`)).body;
    assert.deepEqual([user.email, user.name], ['ada@example.com', 'Ada']);
    const { store } = g().app.context;
    const mark = async (begunUntil: number) => {
      await store.writeUnlogged((writer) => markEnded(writer, last.id, last.accountId, begunUntil));
      return (await store.queries.all('SELECT begun_until FROM app_session_marks WHERE id = $1', [last.id])).flat();
    };
    assert.deepEqual([await mark(100), await mark(50), await mark(200)].flat().map(Number), [100, 100, 200]);
  });

  test('a use that came while an older one could not be written is the one that is kept', async () => {
    const kept = g().app.context.services.get(visitors);
    const session = await seen();
    const outage = failAt(1, 'lost', true);
    kept.visitorSeen({ ...session, source: '192.0.2.2' });
    const flushing = kept.flush();
    // The write has begun by then.
    await Promise.resolve();
    await Promise.resolve();
    kept.visitorSeen({ ...session, source: '192.0.2.3' });
    await flushing;
    outage.end();
    await kept.flush();
    const { body } = await g().get(`/app/sessions/${session.id}`);
    assert.equal(body.browser_session.ip_address, '192.0.2.3');
  });

  test('after an outage what waits is written without another event, and at the end without a timer', async () => {
    const { store, services } = g().app.context;
    const isListed = async ({ id }: VisitorSession) =>
      (await store.queries.all('SELECT id FROM app_sessions WHERE id = $1', [id])).length === 1;
    const live = await seen();
    const next = { ...live, id: newId('as'), subject: newId('x') };
    const outage = failAt(1, 'lost', true);
    services.get(visitors).visitorSeen(next);
    await services.get(visitors).flush();
    outage.end();
    await until(async () => isListed(next), 'what waited is written');
    const keeper = new VisitorKeeper(store);
    const task = await keeper.task().start(silent);
    const last = { ...live, id: newId('as'), subject: newId('x') };
    keeper.visitorSeen(last);
    if (Symbol.asyncDispose in task) await task[Symbol.asyncDispose]();
    assert.equal(await isListed(last), true);
  });

  test('a sweep deletes all that is over, however much it is', async () => {
    const { store, services } = g().app.context;
    const now = Math.floor(Date.now() / 1000);
    const { accountId } = await edge();
    const kept = services.get(visitors);
    const base = await seen({ accountId });
    const add = (count: number, more: (at: number) => Partial<VisitorSession>) => {
      const sessions = Array.from({ length: count }, (_, at) => ({ ...base, id: newId('as'), ...more(at) }));
      for (const each of sessions) kept.visitorSeen({ ...each, subject: newId('x') });
    };
    const left = async (condition: string, values: readonly (string | number)[]) =>
      Number((await store.queries.all(`SELECT COUNT(*) FROM app_sessions WHERE ${condition}`, values))[0]?.[0]);
    // Their edges never were, or are gone: each has a mark in the end.
    const prefix = newId('edghts');
    add(250, (at) => ({ edgeId: `${prefix}${at}` }));
    add(250, () => ({ expiresAt: now - 5, endsAt: now - 5, host: prefix }));
    await kept.flush();
    // More than one transaction deletes; the sweep of the process itself may have begun.
    assert.ok((await left('edge_id LIKE $1', [`${prefix}%`])) > 100);
    assert.ok((await left('expires_at_ms < $1', [now * 1000])) > 100);
    await sweep(store);
    assert.equal(await left('edge_id LIKE $1', [`${prefix}%`]), 0);
    assert.equal(await left('expires_at_ms < $1', [now * 1000]), 0);
  });

  test('what is over by itself is forgotten', async () => {
    const now = Math.floor(Date.now() / 1000);
    const over = await seen({ expiresAt: now - 1, endsAt: now - 1 });
    const { id } = over;
    const { store, services } = g().app.context;
    services.get(visitors).visitorLeft({ ...over, id: newId('as'), subject: newId('x') });
    await services.get(visitors).flush();
    const users = 'SELECT id FROM app_users WHERE subject = $1';
    assert.equal((await store.queries.all(users, [over.subject])).length, 1);
    const listed = async () => (await g().get('/app/sessions')).body.application_sessions as { id: string }[];
    assert.ok(!(await listed()).some((each) => each.id === id), 'one that waits to be deleted is not listed');
    assert.equal((await g().get(`/app/sessions/${id}`)).status, 404);
    assert.equal((await g().delete(`/app/sessions/${id}`)).status, 404);
    assert.equal((await store.queries.all('SELECT id FROM app_sessions WHERE id = $1', [id])).length, 1);
    await sweep(store);
    assert.equal((await store.queries.all('SELECT id FROM app_sessions WHERE id = $1', [id])).length, 0);
    const [row] = await g().app.context.store.queries.all(
      'SELECT COUNT(*) FROM ended_app_sessions WHERE ends_at_ms < $1',
      [Date.now()],
    );
    assert.equal(Number(row?.[0]), 0);
    assert.deepEqual(
      await store.queries.all(users, [over.subject]),
      [],
      'with the last session, the person is forgotten',
    );
  });

  test('who signs out is kept until that session would have been over', async () => {
    const { store, services } = g().app.context;
    const live = await seen();
    services.get(visitors).visitorLeft(live);
    await services.get(visitors).flush();
    // With another one of the same person that is over by itself.
    await seen({ ...live, id: newId('as'), expiresAt: live.signedInAt - 1 });
    await sweep(store);
    const users = async () =>
      (await store.queries.all('SELECT id FROM app_users WHERE subject = $1', [live.subject])).length;
    assert.equal(await users(), 1);
    await sweep(store, live.endsAt * 1000);
    assert.equal(await users(), 0);
  });

  test('who signs in and out again and again leaves few rows, and what was ended stays so', async () => {
    const { store, services } = g().app.context;
    const first = await seen();
    const kept = services.get(visitors);
    const person = personOf(first.accountId, first.provider.url, first.subject);
    const rowsOf = async () => {
      const [row = []] = await store.queries.all(
        `SELECT COUNT(*), MAX(begun_at) FROM (
           SELECT s.begun_at FROM app_sessions s JOIN app_users u ON u.id = s.user_id WHERE u.person = $1
           UNION ALL SELECT begun_at FROM ended_app_sessions WHERE person = $1) own`,
        [person],
      );
      return row;
    };
    for (let at = 1; at <= 450; at++) {
      const next = { ...first, id: newId('as'), signedInAt: first.signedInAt + at };
      kept.visitorSeen(next);
      if (at % 3 !== 0) continue;
      await kept.flush();
      kept.visitorLeft(next);
      await kept.flush();
      if (at === 204) assert.ok(Number((await rowsOf())[0]) < 160, 'a bound that is reached is not met at each login');
    }
    await kept.flush();
    const [rows, newest] = await rowsOf();
    assert.ok(Number(rows) > 100 && Number(rows) <= 200, `${Number(rows)} rows`);
    assert.equal(Number(newest), first.signedInAt + 450);
    const [[begunUntil] = []] = await store.queries.all('SELECT begun_until FROM app_session_marks WHERE id = $1', [
      person,
    ]);
    assert.ok(Number(begunUntil) >= first.signedInAt + 250 && Number(begunUntil) <= first.signedInAt + 300);
    assert.equal((await g().get(`/app/sessions/${first.id}`)).status, 404, 'the oldest is over');
    await seen({ ...first, seenAt: first.seenAt + 500 });
    assert.equal((await g().get(`/app/sessions/${first.id}`)).status, 404, 'and stays so');
  });

  test('an account that has as many sessions as it may keeps the newest, and nobody is kept out', async () => {
    const { store } = g().app.context;
    const accountId = await createAccount(g());
    const { token } = await createUser(g(), 'admin', accountId);
    const own = { ...(await edge({ token })), accountId };
    await runOnHost(g(), 'accounts quotas', { set: 'app_sessions=20', account: accountId });
    const now = Math.floor(Date.now() / 1000) - 1000;
    const sessions: VisitorSession[] = [];
    for (let at = 0; at < 50; at++) {
      sessions.push(await seen({ ...own, signedInAt: now + at, seenAt: now + at, endsAt: now + 5000 }));
      if (at % 5 === 4) g().app.context.services.get(visitors).visitorLeft(sessions.at(-1)!);
    }
    await g().app.context.services.get(visitors).flush();
    const quota = async () => {
      const { quotas } = (await g().get('/quotas', { token })).body;
      return quotas.find(({ name }: { name: string }) => name === 'app_sessions');
    };
    const { used, limit } = await quota();
    assert.ok(limit === 20 && used > 0 && used <= 20, `${used} of ${limit}`);
    const last = sessions.at(-2)!;
    assert.equal((await g().get(`/app/sessions/${last.id}`, { token })).status, 200);
    const sql = 'SELECT begun_until FROM app_session_marks WHERE id = $1';
    const begunUntil = Number((await store.queries.all(sql, [accountId]))[0]?.[0]);
    for (const { id, signedInAt } of sessions)
      assert.equal(
        (await store.queries.all('SELECT id FROM app_sessions WHERE id = $1 AND begun_at <= $2', [id, begunUntil]))
          .length,
        0,
        `${signedInAt} and ${begunUntil}`,
      );
    const [people] = await store.queries.all('SELECT COUNT(*) FROM app_users WHERE account_id = $1', [accountId]);
    assert.ok(Number(people?.[0]) <= used, 'people of whom nothing is left are forgotten');
    await countAgain(g());
    // A sign-out has room too, of a session that nobody had told of.
    while ((await quota()).used < 20) await seen({ ...own, endsAt: now + 5000 });
    const unknown = { ...last, id: newId('as'), signedInAt: now + 1500 };
    g().app.context.services.get(visitors).visitorLeft(unknown);
    await g().app.context.services.get(visitors).flush();
    const endedSql = 'SELECT id FROM ended_app_sessions WHERE id = $1';
    assert.deepEqual(await store.queries.all(endedSql, [unknown.id]), [[unknown.id]]);
    // An account may be given less than it has.
    await runOnHost(g(), 'accounts quotas', { set: 'app_sessions=500', account: accountId });
    for (let at = 0; at < 250; at++) {
      const next = { ...last, ...own, id: newId('as'), subject: newId('x'), signedInAt: now + 2000 + at };
      g().app.context.services.get(visitors).visitorSeen(next);
    }
    await g().app.context.services.get(visitors).flush();
    assert.ok((await quota()).used > 250);
    await runOnHost(g(), 'accounts quotas', { set: 'app_sessions=2', account: accountId });
    await sweep(store);
    assert.ok((await quota()).used <= 2);
    await countAgain(g());
  });

  test('an edge that is gone leaves one row in place of its sessions, and they do not come back with it', async () => {
    const { store, services } = g().app.context;
    const own = await edge();
    const [live, left] = [await seen(own), await seen(own)];
    services.get(visitors).visitorLeft(left);
    await services.get(visitors).flush();
    await sweep(store);
    assert.equal((await g().get(`/app/sessions/${live.id}`)).status, 200);
    assert.equal((await g().delete(`/edges/https/${own.edgeId}`)).status, 204);
    await sweep(store);
    for (const table of ['app_sessions', 'ended_app_sessions'])
      assert.deepEqual(await store.queries.all(`SELECT id FROM ${table} WHERE edge_id = $1`, [own.edgeId]), []);
    await seen({ ...live });
    assert.equal((await g().get(`/app/sessions/${live.id}`)).status, 404);
    const marks = 'SELECT begun_until FROM app_session_marks WHERE id = $1';
    assert.ok(Number((await store.queries.all(marks, [own.edgeId]))[0]?.[0]) >= live.signedInAt);
    await sweep(store, Date.now() + 367 * 86_400_000);
    assert.deepEqual(await store.queries.all(marks, [own.edgeId]), []);
  });

  test('people of an older release get a name, or are forgotten if they have no session', async () => {
    const { store } = g().app.context;
    const [live, gone] = [await seen(), await seen()];
    await store.writeUnlogged(async (writer) => {
      await writer.run('DELETE FROM app_sessions WHERE id = $1', [gone.id]);
      await writer.run("UPDATE app_users SET person = '' WHERE subject IN ($1, $2)", [live.subject, gone.subject]);
    });
    await sweep(store);
    const people = await store.queries.all('SELECT person FROM app_users WHERE subject IN ($1, $2)', [
      live.subject,
      gone.subject,
    ]);
    assert.deepEqual(people, [[personOf(live.accountId, live.provider.url, live.subject)]]);
  });

  test('sessions that are over are deleted though no visitor comes', async (t) => {
    const { store } = g().app.context;
    const now = Math.floor(Date.now() / 1000);
    const { id } = await seen({ expiresAt: now - 1, endsAt: now - 1 });
    const task = await new VisitorKeeper(store).task(20).start(silent);
    t.after(() => (Symbol.asyncDispose in task ? task[Symbol.asyncDispose]() : undefined));
    await until(
      async () => (await store.queries.all('SELECT id FROM app_sessions WHERE id = $1', [id])).length === 0,
      'the session is deleted',
    );
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
    const sealer = context.services.get(sharedSealer);
    const sealed = await sealer.seal('text', 'here');
    const [[last] = []] = await context.store.queries.all('SELECT MAX(number) FROM visitor_keys');
    assert.equal(sealed.split('.')[0], String(last), 'it seals from then on');
    assert.equal(await sealer.open(sealed, 'here'), 'text');
    // A session may last for a year, and needs the key that sealed it for so long.
    await renew(context, later + 366 * 86_400_000);
    assert.equal(await count(), before + 2, 'those of a year ago stay');
    await renew(context, later + 900 * 86_400_000);
    assert.equal(await count(), 1, 'older ones go');
  });

  test('what cannot be stored holds up nobody else, and no deletion', async () => {
    const kept = g().app.context.services.get(visitors);
    const [live, other] = [await seen(), await seen()];
    const before = g().logLines.length;
    // Rows that both databases refuse: no number, no such account; and for PostgreSQL a text with NUL.
    kept.visitorLeft({ ...live, id: newId('as'), endsAt: Number.NaN });
    kept.visitorSeen({ ...live, id: newId('as'), accountId: 'ac_none' });
    kept.visitorSeen({ ...live, id: newId('as'), subject: 'a\0b' });
    const later = { ...live, id: newId('as'), subject: newId('x') };
    kept.visitorSeen(later);
    kept.visitorLeft(live);
    assert.equal((await g().delete(`/app/sessions/${other.id}`)).status, 204);
    assert.equal((await g().get(`/app/sessions/${later.id}`)).status, 200);
    assert.equal((await g().get(`/app/sessions/${live.id}`)).status, 404, 'the sign-out is written');
    const lines = () =>
      g()
        .logLines.slice(before)
        .filter((line) => line.includes('could not be stored'));
    const dropped = lines().length;
    assert.ok(dropped === 2 || dropped === 3, `${dropped} lines`);
    await kept.flush();
    assert.equal(lines().length, dropped, 'what was dropped is not tried again');
  });

  test('with the database away all of it waits, and sign-outs are written first', async () => {
    const kept = g().app.context.services.get(visitors);
    const live = await seen();
    const next = { ...live, id: newId('as'), subject: newId('x') };
    const outage = failAt(1, 'lost', true);
    kept.visitorSeen(next);
    kept.visitorLeft(live);
    await kept.flush();
    outage.end();
    await kept.flush();
    assert.equal((await g().get(`/app/sessions/${live.id}`)).status, 404);
    assert.equal((await g().get(`/app/sessions/${next.id}`)).status, 200);
    const sql = `${ofTest} SELECT resource_id FROM observed_changes WHERE resource_id IN ($1, $2) ORDER BY version DESC LIMIT 2`;
    const rows = await g().app.context.store.queries.all(sql, [live.id, next.id]);
    assert.deepEqual(rows.flat(), [next.id, live.id]);
  });
});
