import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { DashboardBrowser } from '../../../test/support/dashboard-browser.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createUser } from '../../../test/support/people.ts';
import { pruneChanges } from '../../store/write/change-log.ts';

interface ShownChange {
  readonly id: string;
  readonly version: number;
  readonly action: string;
  readonly kind: string;
  readonly resource_id: string;
}

onDatabasesInTurn('changes', (newDatabase) => {
  let database: string;
  let gatehouse: Gatehouse;
  before(async () => {
    database = await newDatabase();
    gatehouse = await Gatehouse.start(database);
  });
  after(() => gatehouse[Symbol.asyncDispose]());

  const list = async (query: string): Promise<readonly ShownChange[]> =>
    (await gatehouse.get(`/changes${query}`)).body.changes;

  test('every change is told once, newest first, with what was before and after and who did it', async () => {
    const policy = await gatehouse.create('/ip_policies', { description: 'first' });
    await gatehouse.patch(`/ip_policies/${policy.id}`, { description: 'second' });
    await gatehouse.delete(`/ip_policies/${policy.id}`);
    const { body } = await gatehouse.get(`/changes?resource_id=${policy.id}`);
    assert.deepEqual(
      body.changes.map(({ action }: ShownChange) => action),
      ['delete', 'update', 'create'],
    );
    const [, update] = body.changes;
    assert.deepEqual([update.before.description, update.after.description], ['first', 'second']);
    assert.match(update.actor, /^usr_/);
    assert.match(update.operation_id, /^op_/);
    const [{ id: keyId }] = (await gatehouse.get('/api_keys?limit=1')).body.keys;
    assert.deepEqual([update.source, update.key_id, update.scope], ['127.0.0.1', keyId, 'api']);
    const browser = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    const { body: made } = await browser.post('/ip_policies', {});
    const [bySession] = (await gatehouse.get(`/changes?resource_id=${made.id}`)).body.changes;
    assert.deepEqual([bySession.source, bySession.key_id, bySession.scope], ['127.0.0.1', keyId, 'dashboard']);
    const onHost = await createUser(gatehouse, 'member');
    const [byHost] = (await gatehouse.get(`/changes?resource_id=${onHost.id}`)).body.changes;
    assert.deepEqual([byHost.actor, byHost.source, byHost.key_id], ['host', undefined, undefined]);
  });

  test('a new key’s change holds neither its token nor a hash of it', async () => {
    const key = await gatehouse.create('/api_keys');
    const { text } = await gatehouse.get(`/changes?resource_id=${key.id}`);
    assert.ok(!text.includes(key.token.split('_')[1]));
    assert.ok(!/hash/.test(text));
  });

  test('pages lose and repeat nothing, and keep the filter', async () => {
    for (let count = 0; count < 7; count++) await gatehouse.create('/ip_policies', { description: `page ${count}` });
    const whole = await list('?kind=ip_policy');
    const seen: string[] = [];
    let path: string | null = '/changes?kind=ip_policy&limit=3';
    while (path !== null) {
      const { body }: { body: { changes: ShownChange[]; next_page_uri: string | null } } = await gatehouse.get(path);
      seen.push(...body.changes.map(({ id }) => id));
      path = body.next_page_uri === null ? null : body.next_page_uri.replace(gatehouse.url, '');
    }
    assert.deepEqual(
      seen,
      whole.map(({ id }) => id),
    );
  });

  test('filters by kind, actor and time select; bad ones are refused', async () => {
    const { body: key } = await gatehouse.get('/api_keys?limit=1');
    const [{ owner_id: owner }] = key.keys;
    assert.ok((await list(`?actor=${owner}`)).length > 0);
    assert.deepEqual(await list('?actor=usr_nobody'), []);
    assert.deepEqual(await list('?until=2000-01-01T00:00:00Z'), []);
    assert.ok((await list('?since=2000-01-01T00:00:00Z')).length > 0);
    const [{ id, created_at: at }] = (await gatehouse.get('/changes?limit=1')).body.changes;
    const ofSecond = await list(`?since=${at}&until=${at}&limit=100`);
    assert.ok(
      ofSecond.some((each) => each.id === id),
      'both ends of the time belong to it',
    );
    assert.equal((await gatehouse.get('/changes?since=yesterday')).body.error_code, 'ERR_GATEHOUSE_241');
    assert.equal((await gatehouse.get('/changes?colour=red')).body.error_code, 'ERR_GATEHOUSE_231');
    assert.equal((await gatehouse.get('/changes?before_id=chg_1')).body.error_code, 'ERR_GATEHOUSE_227');
  });

  test('a filter that few changes pass ends pages early, and following them finds each of these once', async () => {
    const { store } = gatehouse.app.context;
    const oldest = await gatehouse.create('/bot_users', { name: 'rare' });
    const [row] = await store.queries.all('SELECT account_id, version FROM change_log WHERE resource_id = $1', [
      oldest.id,
    ]);
    const [accountId, version] = [String(row?.[0]), Number(row?.[1])];
    // Further positions of the version that made the bot: more changes than a page looks at.
    await store.writeUnlogged(async (notes) =>
      notes.run(
        `INSERT INTO change_log
           (version, position, at, account_id, actor, operation_id, kind, resource_id, before, after, sweeping)
         WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 45000)
         SELECT ${version}, number, '2030-01-01T00:00:00Z', $1,
           CASE WHEN number % 100 = 1 THEN 'usr_few' ELSE 'usr_many' END, 'op_many', 'thing', 'th_many', NULL, '{}', 0
         FROM numbers`,
        [accountId],
      ),
    );
    const newest = await gatehouse.create('/bot_users', { name: 'rare too' });
    for (const filter of ['kind=bot_user', 'until=2029-01-01T00:00:00Z&kind=bot_user']) {
      const counts: number[] = [];
      const found: string[] = [];
      let path: string | null = `/changes?${filter}`;
      while (path !== null) {
        const { body }: { body: { changes: ShownChange[]; next_page_uri: string | null } } = await gatehouse.get(path);
        counts.push(body.changes.length);
        found.push(...body.changes.map(({ resource_id }) => resource_id));
        path = body.next_page_uri === null ? null : body.next_page_uri.replace(gatehouse.url, '');
      }
      assert.deepEqual(found.slice(0, 2), [newest.id, oldest.id]);
      assert.equal(new Set(found).size, found.length);
      // 20,000 changes a page.
      assert.deepEqual(counts.slice(0, 2), [1, 0]);
    }
    const few: string[] = [];
    for (let path: string | null = '/changes?actor=usr_few&limit=100'; path !== null;) {
      const { body }: { body: { changes: ShownChange[]; next_page_uri: string | null } } = await gatehouse.get(path);
      few.push(...body.changes.map(({ id }) => id));
      path = body.next_page_uri === null ? null : body.next_page_uri.replace(gatehouse.url, '');
    }
    assert.deepEqual([few.length, new Set(few).size], [450, 450], 'none is lost where one step ends');
    const ofOne = await gatehouse.get(`/changes?resource_id=${oldest.id}`);
    assert.deepEqual([ofOne.body.changes.length, ofOne.body.next_page_uri], [1, null]);
    assert.equal((await list('?resource_id=th_many&limit=100')).length, 100);
    await store.writeUnlogged((notes) =>
      notes.run("UPDATE change_log SET kind = 'agent_session_alert' WHERE kind = 'thing'"),
    );
    const { body } = await gatehouse.get('/changes?limit=100');
    assert.deepEqual(
      body.changes.map(({ resource_id }: ShownChange) => resource_id),
      [newest.id],
      'alerts are not listed, and a page looks at no more of them than of changes',
    );
    assert.notEqual(body.next_page_uri, null);
  });

  test('only admins may read them', async () => {
    const bot = await gatehouse.create('/bot_users', { name: 'reader' });
    const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
    assert.equal((await gatehouse.get('/changes', { token })).status, 403);
  });

  test('a process that finds the log shortened behind it starts afresh instead of missing what happened', async () => {
    await using other = await Gatehouse.start(database);
    const key = await gatehouse.create('/api_keys');
    assert.equal((await other.get('/api_keys', { token: key.token })).status, 200);
    const { store } = other.app.context;
    // In one transaction: the other process cannot look in between.
    await gatehouse.app.context.store.write(
      { id: 'host', accountId: '', operationId: 'op_test' },
      async (transaction) => {
        await transaction.run('DELETE FROM api_keys WHERE id = $1', [key.id]);
        transaction.record({ accountId: '', kind: 'api_key', id: key.id, before: '{}', after: null, cascades: false });
      },
    );
    await gatehouse.app.context.store.writeUnlogged((notes) => pruneChanges(notes, '9999-01-01T00:00:00Z'));
    await gatehouse.create('/ip_policies');
    await store.poll();
    assert.equal((await other.get('/api_keys', { token: key.token })).status, 401);
  });
});
