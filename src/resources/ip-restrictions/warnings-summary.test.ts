import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createUser, from } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { warnings } from './service.ts';

const minute = 60;
const hour = 3_600;
const day = 86_400;

interface Summary {
  readonly total_warned: number;
  readonly total_sources: number;
  readonly sources_truncated: boolean;
  readonly collecting_since: string | null;
  readonly from: string;
  readonly to: string;
  readonly buckets: readonly { readonly start: string; readonly count: number }[];
  readonly sources: readonly Readonly<Record<string, unknown>>[];
}

onGatehousesInTurn(
  'the summary of warnings',
  (gatehouse) => {
    const restrict = async (type = 'agent') => {
      const policy = await gatehouse().create('/ip_policies');
      const restriction = await gatehouse().create('/ip_restrictions', { type, ip_policy_ids: [policy.id] });
      return { id: String(restriction.id), policyId: String(policy.id), createdAt: String(restriction.created_at) };
    };
    const summary = async (id: string, window = 'day'): Promise<Summary> => {
      const { status, body } = await gatehouse().get(`/ip_restrictions/${id}/warnings/summary?window=${window}`);
      assert.equal(status, 200);
      return body;
    };
    const warn = (id: string, address: string, times = 1) => {
      const source = parseIp(address);
      assert.ok(source);
      for (let count = 0; count < times; count++) gatehouse().app.context.services.get(warnings).warned([id], source);
    };
    /** Stores warnings as if they had been counted so many seconds ago. */
    const storeOld = (id: string, source: string, secondsAgo: number, count: number) => {
      const seconds = Math.floor(Date.now() / 1000) - secondsAgo;
      const sql =
        'INSERT INTO ip_restriction_warning_slots (restriction_id, slot, source, count) VALUES ($1, $2, $3, $4)';
      const slot = seconds - (seconds % (5 * minute));
      return gatehouse().app.context.store.writeUnlogged(async (notes) => notes.run(sql, [id, slot, source, count]));
    };
    const storedRows = async (id: string) => {
      const sql = 'SELECT slot, source, count FROM ip_restriction_warning_slots WHERE restriction_id = $1';
      return gatehouse().app.context.store.queries.all(sql, [id]);
    };

    test('counts calls of each source as they come', async () => {
      const { id } = await restrict('api');
      for (const address of ['203.0.113.1', '203.0.113.1', '2001:db8::1'])
        await gatehouse().get('/ip_policies?limit=1', from(address));
      const { sources, total_warned: total, total_sources: known, sources_truncated: isCut, to } = await summary(id);
      // The calls of the test itself come from another address.
      const [first, ...others] = sources.filter(({ ip }) => ip !== '127.0.0.1');
      assert.equal(first?.['ip'], '203.0.113.1');
      assert.deepEqual([first['count'], first['would_be_refused'], first['decision']], [2, true, null]);
      assert.deepEqual(
        others.map(({ ip, count }) => [ip, count]),
        [['2001:db8::1', 1]],
      );
      assert.ok(String(first['first_at']) <= String(first['last_at']) && String(first['last_at']) <= to);
      assert.deepEqual([known, isCut], [sources.length, false]);
      assert.equal(
        total,
        sources.reduce((sum, { count }) => sum + Number(count), 0),
      );
      await gatehouse().delete(`/ip_restrictions/${id}`);
    });

    test('looks back an hour, a day or a week, in buckets without gaps', async () => {
      const { id } = await restrict();
      for (const [source, secondsAgo, count] of [
        ['192.0.2.1', 30 * minute, 1],
        ['192.0.2.2', 5 * hour, 20],
        ['192.0.2.3', 3 * day, 300],
        ['192.0.2.4', 10 * day, 4_000],
      ] as const)
        await storeOld(id, source, secondsAgo, count);
      for (const [window, total, ips, bucketSeconds, seconds] of [
        ['hour', 1, ['192.0.2.1'], 5 * minute, hour],
        ['day', 21, ['192.0.2.2', '192.0.2.1'], hour, day],
        ['week', 321, ['192.0.2.3', '192.0.2.2', '192.0.2.1'], hour, 7 * day],
      ] as const) {
        const { total_warned: warned, buckets, sources, from: since, to } = await summary(id, window);
        assert.deepEqual([warned, sources.map(({ ip }) => ip)], [total, ips], window);
        assert.equal(
          buckets.reduce((sum, { count }) => sum + count, 0),
          total,
        );
        const starts = buckets.map(({ start }) => Date.parse(start) / 1000);
        assert.ok(starts.every((start, at) => at === 0 || start - (starts[at - 1] ?? 0) === bucketSeconds));
        assert.equal(since, buckets[0]?.start);
        const span = (Date.parse(to) - Date.parse(since)) / 1000;
        assert.ok(span >= seconds && span < seconds + bucketSeconds, `${window} looks back ${span} s`);
        assert.ok(Date.parse(to) / 1000 - (starts.at(-1) ?? 0) < bucketSeconds, 'the last bucket holds now');
      }
      const { body } = await gatehouse().get(`/ip_restrictions/${id}/warnings/summary`);
      assert.equal(body.window, 'day');
    });

    test('says which sources the rules allow by now', async () => {
      const { id, policyId } = await restrict();
      warn(id, '198.51.100.1');
      warn(id, '198.51.100.2');
      await gatehouse().create('/ip_policy_rules', {
        ip_policy_id: policyId,
        cidr: '198.51.100.1/32',
        action: 'allow',
      });
      const { sources } = await summary(id);
      const refused = Object.fromEntries(sources.map(({ ip, would_be_refused: isRefused }) => [ip, isRefused]));
      assert.deepEqual(refused, { '198.51.100.1': false, '198.51.100.2': true });
    });

    test('shows who decided what about a source, until it is taken back', async () => {
      const { id } = await restrict();
      warn(id, '2001:db8::5');
      const path = `/ip_restrictions/${id}/decisions`;
      const { status, body } = await gatehouse().put(`${path}/2001:DB8:0::5`, { decision: 'refuse_on_purpose' });
      assert.equal(status, 200);
      assert.deepEqual([body.ip, body.decision], ['2001:db8::5', 'refuse_on_purpose']);
      const [shown] = (await summary(id)).sources;
      assert.deepEqual(
        [shown?.['decision'], shown?.['decided_by'], shown?.['decided_at']],
        [body.decision, body.decided_by, body.decided_at],
      );
      const [change] = (await gatehouse().get('/changes?limit=1')).body.changes;
      assert.deepEqual([change.kind, change.after.ip], ['ip_restriction_decision', '2001:db8::5']);
      const { version } = gatehouse().app.context.store;
      assert.deepEqual((await gatehouse().put(`${path}/2001:db8::5`, { decision: 'refuse_on_purpose' })).body, body);
      assert.equal(gatehouse().app.context.store.version, version, 'a repeated call changes nothing');
      for (let count = 0; count < 2; count++)
        assert.equal((await gatehouse().delete(`${path}/2001:db8::5`)).status, 204);
      assert.equal((await summary(id)).sources[0]?.['decision'], null);
      await gatehouse().put(`${path}/192.0.2.9`, { decision: 'refuse_on_purpose' });
      assert.equal((await gatehouse().delete(`/ip_restrictions/${id}`)).status, 204, 'decisions go with it');
    });

    test('refuses decisions that make no sense, and those of members', async () => {
      const { id } = await restrict();
      const path = `/ip_restrictions/${id}/decisions`;
      const decision = { decision: 'refuse_on_purpose' };
      for (const ip of ['nope', '192.0.2.0%2F24', '300.1.1.1']) {
        const { status, body } = await gatehouse().put(`${path}/${ip}`, decision);
        assert.deepEqual([status, body.error_code], [400, 'ERR_GATEHOUSE_20033'], ip);
      }
      assert.equal((await gatehouse().put(`${path}/192.0.2.1`, { decision: 'let_in' })).status, 400);
      assert.equal((await gatehouse().put(`${path}/192.0.2.1`, {})).status, 400);
      const { token } = await createUser(gatehouse(), 'member');
      assert.equal((await gatehouse().put(`${path}/192.0.2.1`, decision, { token })).status, 403);
      const { store } = gatehouse().app.context;
      await store.writeUnlogged(async (notes) =>
        notes.run(
          `INSERT INTO ip_restriction_decisions (id, account_id, document, restriction_id, source)
           WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000)
           SELECT 'ipxd_' || $1 || number, account_id, '{}', id, 'source ' || number FROM numbers, ip_restrictions WHERE id = $1`,
          [id],
        ),
      );
      const { status, body } = await gatehouse().put(`${path}/192.0.2.1`, decision);
      assert.deepEqual([status, body.error_code], [409, 'ERR_GATEHOUSE_20177']);
    });

    test('says since when warnings are collected', async () => {
      const { id, createdAt } = await restrict();
      assert.equal((await summary(id)).collecting_since, createdAt);
      await gatehouse().patch(`/ip_restrictions/${id}`, { enforced: true });
      assert.equal((await summary(id)).collecting_since, null);
      await gatehouse().patch(`/ip_restrictions/${id}`, { enforced: false });
      const since = (await summary(id)).collecting_since ?? '';
      assert.ok(since >= createdAt && Date.parse(since) > Date.now() - 60_000, since);
      await gatehouse().patch(`/ip_restrictions/${id}`, { description: 'another', enforced: false });
      assert.equal((await summary(id)).collecting_since, since, 'other changes leave it alone');
    });

    test('keeps what is older than two hours by the hour, and nothing that is older than a week', async () => {
      const { id } = await restrict();
      for (let at = 0; at < 36; at++) await storeOld(id, '192.0.2.1', 20 * hour + at * 5 * minute, 1);
      await storeOld(id, '192.0.2.1', 20 * minute, 7);
      await storeOld(id, '192.0.2.2', 9 * day, 5);
      const before = await summary(id, 'week');
      warn(id, '192.0.2.1');
      const { total_warned: total, sources } = await summary(id, 'week');
      assert.deepEqual([total, sources[0]?.['count']], [before.total_warned + 1, 44]);
      const rows = await storedRows(id);
      const now = Math.floor(Date.now() / 1000);
      const old = rows.filter(([slot]) => Number(slot) < now - 3 * hour);
      assert.ok(old.length <= 4 && old.every(([slot]) => Number(slot) % hour === 0), JSON.stringify(rows));
      assert.ok(
        rows.some(([slot, , count]) => Number(slot) > now - hour && Number(count) === 7),
        'the last hour is finer',
      );
      assert.ok(rows.every(([, source]) => source !== '192.0.2.2'));
    });

    test('is bounded: of too many sources those that came most are told apart, and the sums stay right', async () => {
      const { id } = await restrict();
      for (let at = 0; at < 4_000; at++) warn(id, `10.9.${at >> 8}.${at & 255}`);
      warn(id, '192.0.2.200', 5);
      const flood = await summary(id, 'hour');
      assert.deepEqual([flood.total_warned, flood.sources_truncated], [4_005, true]);
      assert.deepEqual([flood.sources[0]?.['ip'], flood.sources[0]?.['count']], ['192.0.2.200', 5]);
      assert.equal((await storedRows(id)).length, 1_001);

      const { store } = gatehouse().app.context;
      const slot = Math.floor(Date.now() / 1000 / hour) * hour - 5 * hour;
      await store.writeUnlogged(async (notes) =>
        notes.run(
          `INSERT INTO ip_restriction_warning_slots (restriction_id, slot, source, count)
           WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 25000)
           SELECT $1, ${slot} - CASE WHEN number % 2 = 0 THEN 3600 ELSE 0 END, 'old ' || number, number FROM numbers`,
          [id],
        ),
      );
      const sum = (25_000 * 25_001) / 2;
      for (let at = 0; at < 300; at++) warn(id, `10.8.${at >> 8}.${at & 255}`);
      const { total_warned: total, sources } = await summary(id);
      assert.equal(total, 4_005 + sum + 300);
      const rows = await storedRows(id);
      assert.equal(rows.filter(([, source]) => source !== '').length, 20_000);
      assert.ok(
        rows.some(([, source]) => source === '192.0.2.200'),
        'newer ones stay',
      );
      assert.deepEqual([sources.length, sources[0]?.['ip']], [1_000, 'old 25000']);
      const folded = rows.filter(([at, source]) => Number(at) === slot - hour && source !== '');
      const smallest = Math.min(...folded.map(([, , count]) => Number(count)));
      assert.ok(smallest > 2, 'in the oldest slot those that came most are kept');
    });

    test('refuses another window, and a restriction that is not there', async () => {
      const { id } = await restrict();
      for (const [query, code] of [
        ['window=month', 20176],
        ['window=', 20176],
        ['window=day&window=hour', 232],
        ['limit=5', 231],
      ] as const) {
        const { status, body } = await gatehouse().get(`/ip_restrictions/${id}/warnings/summary?${query}`);
        assert.deepEqual([status, body.error_code], [400, `ERR_GATEHOUSE_${code}`], query);
      }
      assert.equal((await gatehouse().get('/ip_restrictions/ipx_nope/warnings/summary')).status, 404);
    });
  },
  { trustedProxies: '127.0.0.1' },
);
