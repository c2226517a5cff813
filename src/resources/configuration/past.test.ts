import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import fc from 'fast-check';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import type { Answer } from '../../../test/support/gatehouse.ts';
import { isLong, rounds } from '../../../test/support/long-form.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import type { Person } from '../../../test/support/people.ts';
import { cidrOf, randomConfiguration, randomRule, toEntries } from '../../../test/support/random-configuration.ts';
import { decide } from '../../../test/support/sample.ts';
import { pruneChanges } from '../../store/write/change-log.ts';
import { earlierLimits } from '../../store/write/earlier-documents.ts';
import { pastReads } from './apply-entries.ts';
import { momentLimits } from './moment.ts';

/** PostgreSQL, where a history takes three times as long, has the same statements. */
const runsOn = (databaseUrl: string) => rounds(databaseUrl.startsWith('sqlite:') ? 3 : 1, 100);
const seedOfRun = process.env['TEST_SEED'];
const usual = { ...earlierLimits };
const usualMoment = { ...momentLimits };

const at = fc.nat({ max: 1_000 });
const rules = fc.uniqueArray(randomRule, { selector: cidrOf, maxLength: 5 });
const change = fc.oneof(
  fc.record({ kind: fc.constant('apply'), made: randomConfiguration, prune: fc.boolean() }),
  fc.record({ kind: fc.constant('replace'), at, rules }),
  fc.record({ kind: fc.constant('add rule'), at, cidr: fc.nat({ max: 255 }).map((each) => `172.16.${each}.0/24`) }),
  fc.record({ kind: fc.constant('change rule'), at, text: fc.constantFrom('', 'a', 'b') }),
  fc.record({ kind: fc.constant('remove rule'), at }),
  fc.record({ kind: fc.constant('remove all') }),
  fc.record({ kind: fc.constant('revert'), at }),
);
const changesOf = fc.array(change, { minLength: 3, maxLength: 8 });
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** An admin of a new account, and the configuration behind each version. */
class Account {
  readonly gatehouse: Gatehouse;
  readonly person: Person;
  readonly accountId: string;
  readonly known = new Map<number, unknown>();

  private constructor(gatehouse: Gatehouse, person: Person, accountId: string) {
    this.gatehouse = gatehouse;
    this.person = person;
    this.accountId = accountId;
  }

  static async create(gatehouse: Gatehouse): Promise<Account> {
    const accountId = await createAccount(gatehouse);
    return new Account(gatehouse, await createUser(gatehouse, 'admin', accountId), accountId);
  }

  get = (path: string) => this.gatehouse.get(path, this.person);
  post = (path: string, body?: unknown) => this.gatehouse.post(path, body, this.person);

  /** Single calls may be refused, where what they need is not there. */
  async make(wanted: Change): Promise<void> {
    const { gatehouse, person } = this;
    const pick = async (list: string, key: string, place: number) => {
      const all = (await this.get(`/${list}?limit=100`)).body[key];
      return all.length === 0 ? undefined : all[place % all.length].id;
    };
    if ('made' in wanted) {
      const answer = await this.post(`/configuration?prune=${wanted.prune}`, toEntries(wanted.made));
      // Names that stay may be those of other kinds.
      assert.ok(answer.status === 200 || answer.body.error_code === 'ERR_GATEHOUSE_20214', answer.text);
    } else if ('rules' in wanted) {
      const policy = await pick('ip_policies', 'ip_policies', wanted.at);
      await gatehouse.put(`/ip_policies/${policy}/rules`, wanted.rules, person);
    } else if ('cidr' in wanted) {
      const policy = await pick('ip_policies', 'ip_policies', wanted.at);
      await this.post('/ip_policy_rules', { ip_policy_id: policy, cidr: wanted.cidr, action: 'allow' });
    } else if ('text' in wanted) {
      const rule = await pick('ip_policy_rules', 'ip_policy_rules', wanted.at);
      await gatehouse.patch(`/ip_policy_rules/${rule}`, { description: wanted.text }, person);
    } else if (wanted.kind === 'remove rule' && 'at' in wanted) {
      await gatehouse.delete(`/ip_policy_rules/${await pick('ip_policy_rules', 'ip_policy_rules', wanted.at)}`, person);
    } else if ('at' in wanted) {
      await this.post(`/changes/${await pick('changes', 'changes', wanted.at)}/revert`);
    } else {
      assert.equal((await this.post('/configuration?prune=true', [])).status, 200);
    }
  }

  async remember(): Promise<void> {
    const { entries } = (await this.get('/configuration')).body;
    this.known.set(await this.version(), entries);
  }

  /** Returns to moments in turn, each from another one, and meets what was shown before. */
  async checkReturns(): Promise<void> {
    const all = [...this.known].toReversed();
    let from: number | undefined;
    for (const [version, entries] of all) {
      const { gatehouse, person } = this;
      const body = { at: String(version) };
      const shown = await this.post('/configuration/return?dry_run=true', body);
      // The port of an edge that is there was not reserved then, and single calls keep it reserved.
      if (shown.body.error_code === 'ERR_GATEHOUSE_20088') continue;
      assert.equal(shown.status, 200, shown.text);
      if (from !== undefined) {
        const between = await this.get(`/configuration/diff?from=${from}&to=${version}`);
        assert.deepEqual(pure(between.body.steps), pure(shown.body.steps));
      }
      const ifMatch = { ...person, headers: { 'if-match': shown.headers.get('etag') ?? '' } };
      const made = await gatehouse.post('/configuration/return', body, ifMatch);
      assert.equal(made.status, 200, made.text);
      assert.deepEqual(pure(made.body.steps), pure(shown.body.steps));
      assert.deepEqual((await this.get('/configuration')).body.entries, entries);
      assert.deepEqual((await this.post('/configuration/return', body)).body.steps, []);
      from = version;
    }
  }

  async version(): Promise<number> {
    return (await this.get('/changes?limit=1')).body.changes[0].version;
  }

  async clear(): Promise<void> {
    assert.equal((await this.post('/configuration?prune=true', [])).status, 200);
  }
}

/** Without ids, which are new where something is made anew. */
function pure(steps: readonly object[]): readonly object[] {
  return steps.map((step) => ({ ...step, id: undefined }));
}

function assertRefused({ status, body }: Answer, code: string, message: RegExp): void {
  assert.deepEqual([status, body.error_code], [400, `ERR_GATEHOUSE_${code}`]);
  assert.match(body.msg, message);
}

afterEach(() => {
  Object.assign(earlierLimits, usual);
  Object.assign(momentLimits, usualMoment);
});

onEachDatabase('the configuration of an earlier moment', (newDatabase) => {
  for (const [way, limits] of [
    ['few changes since', usual],
    ['many changes since', { fewChanges: 0, entriesAtOnce: 3, fewOfSlice: 0 }],
    ['many changes of each', { fewChanges: 0, entriesAtOnce: 3, fewOfSlice: 9, resourcesAtOnce: 2 }],
  ] as const)
    test(`is the one that was exported then: ${way}`, async () => {
      Object.assign(earlierLimits, limits);
      const url = await newDatabase();
      await using gatehouse = await Gatehouse.start(url, { role: 'api' });
      const property = fc.asyncProperty(randomConfiguration, changesOf, async (made, changes) => {
        const account = await Account.create(gatehouse);
        const first: Change = { kind: 'apply', made, prune: false };
        try {
          for (const each of [first, ...changes]) {
            await account.make(each);
            await account.remember();
          }
          for (const [version, entries] of account.known) {
            const then = await account.get(`/configuration?at=${version}`);
            assert.equal(then.status, 200, then.text);
            assert.deepEqual(then.body.entries, entries);
            assert.equal(then.body.moment.version, version);
          }
          await account.checkReturns();
        } finally {
          // The next one needs its names and ports.
          await account.clear();
        }
      });
      // Each database and each way has histories of its own.
      const usualSeed = isLong ? undefined : decide(2 ** 31, ['histories', way, new URL(url).protocol]);
      const seed = seedOfRun === undefined ? usualSeed : Number(seedOfRun);
      await fc.assert(property, {
        numRuns: runsOn(url),
        endOnFailure: true,
        ...(seed === undefined ? {} : { seed }),
      });
    });

  test('is found by a time, for admins of its account alone', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const other = await Account.create(gatehouse);
    const { store } = gatehouse.app.context;
    const policy = await gatehouse.create('/ip_policies', { description: 'first' }, account.person);
    await other.post('/ip_policies', { description: 'of others' });
    await gatehouse.patch(`/ip_policies/${policy.id}`, { description: 'second' }, account.person);
    const versions = (await account.get('/changes?kind=ip_policy')).body.changes.map(
      (each: { readonly version: number }) => each.version,
    );
    const [second, first] = versions;
    const setTime = (version: number, time: string, from = version) =>
      store.write({ id: 'host', accountId: 'default', operationId: 'test' }, async (transaction) => {
        await transaction.run('UPDATE change_log SET at = $3 WHERE version BETWEEN $1 AND $2', [from, version, time]);
        transaction.record({
          accountId: 'default',
          kind: 'test',
          id: 'test',
          before: null,
          after: '{}',
          cascades: false,
        });
      });
    await setTime(first - 1, '2026-01-01T09:00:00Z', 1);
    await setTime(first, '2026-01-01T10:00:00Z');
    await setTime(second, '2026-01-01T12:00:00Z');
    const seen = async (moment: string, from = account) => {
      const { status, body } = await from.get(`/configuration?at=${encodeURIComponent(moment)}`);
      assert.equal(status, 200, JSON.stringify(body));
      return [body.entries.map((each: { readonly description: string }) => each.description), body.moment];
    };
    assert.deepEqual(await seen('2026-01-01T11:00:00Z'), [
      ['first'],
      { version: first, created_at: '2026-01-01T10:00:00Z' },
    ]);
    assert.deepEqual(await seen('2026-01-01T12:00:00+02:00'), await seen('2026-01-01T10:00:00.9Z'));
    assert.deepEqual((await seen('2026-01-01T12:00:00Z'))[0], ['second']);
    assert.deepEqual((await seen('2099-01-01T12:00:00Z'))[0], ['second']);
    assert.deepEqual((await seen(String(first)))[0], ['first']);
    const { earlier, later, first: oldest, ids } = (await account.get(`/configuration?at=${first}`)).body;
    const others = await account.get(`/changes?limit=1&until=2026-01-01T09:00:00Z`);
    assert.deepEqual(
      [earlier.version, later, oldest.version],
      [others.body.changes[0].version, { version: second, created_at: '2026-01-01T12:00:00Z' }, await firstOf(account)],
    );
    const atFirst = (await account.get(`/configuration?at=${oldest.version}`)).body;
    assert.deepEqual(atFirst.earlier, { version: oldest.version - 1, created_at: null });
    assert.equal((await account.get(`/configuration?at=${second}`)).body.later, null);
    assert.equal('ids' in (await account.get('/configuration')).body, false);
    assert.deepEqual(ids, [policy.id]);
    // A version between two changes of the account is that of another one.
    assert.deepEqual(await seen(String(first + 1)), await seen(String(first)));
    assert.deepEqual(await seen('0'), [[], { version: (await firstOf(account)) - 1, created_at: null }]);
    assert.deepEqual(await seen(String(first), other), [[], (await seen(String(first), other))[1]]);
    assert.deepEqual((await seen('2099-01-01T12:00:00Z', other))[0], ['of others']);
    for (const role of ['member', 'viewer'] as const) {
      const accountId = (
        await store.queries.all('SELECT account_id FROM change_log WHERE version = $1', [first])
      )[0]?.[0];
      const person = await createUser(gatehouse, role, String(accountId));
      assert.equal((await gatehouse.get('/configuration', person)).status, 200);
      assert.equal((await gatehouse.get(`/configuration?at=${first}`, person)).status, 403);
    }
    for (const moment of ['', 'yesterday', '2026-01-01', '-1', '1e3', '2026-02-30T00:00:00Z', '9'.repeat(16)])
      assertRefused(await account.get(`/configuration?at=${moment}`), '20407', /is no moment/);
    assertRefused(await account.get('/configuration?at=999999999999999'), '20409', /no version 999999999999999 yet/);
  });

  test('of a resource that was renamed before anybody exported it is compared and set back by the name that it has now', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const { id } = await gatehouse.create('/ip_policies', { description: 'first' }, account.person);
    const version = await account.version();
    await gatehouse.patch(`/ip_policies/${id}`, { description: 'second' }, account.person);
    const field = { field: 'description', before: 'first', after: 'second' };
    const { steps } = (await account.get(`/configuration/diff?from=${version}`)).body;
    assert.deepEqual(steps, [{ action: 'change', kind: 'ip_policies', name: 'second', id, fields: [field] }]);
    const other = await gatehouse.create('/ip_policies', { description: 'third' }, account.person);
    const moment = String(await account.version());
    await gatehouse.patch(`/ip_policies/${other.id}`, { description: 'fourth' }, account.person);
    assert.equal((await account.post('/configuration/return', { at: moment })).body.changed, 1);
    assert.equal((await account.get(`/ip_policies/${other.id}`)).body.description, 'third');
  });

  test('is found by a time although the clock was wrong at some change', async () => {
    Object.assign(momentLimits, { changesAtOnce: 2 });
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const { store } = gatehouse.app.context;
    const { id } = await gatehouse.create('/ip_policies', { description: 'd1' }, account.person);
    const count = 7;
    for (let each = 2; each <= count; each++)
      await gatehouse.patch(`/ip_policies/${id}`, { description: `d${each}` }, account.person);
    const versions: readonly number[] = (await account.get('/changes?kind=ip_policy')).body.changes
      .map((each: { readonly version: number }) => each.version)
      .toReversed();
    const setTimes = (times: readonly string[]) =>
      store.writeUnlogged(async (writer) => {
        await writer.run('UPDATE change_log SET at = $2 WHERE version < $1', [
          versions[0] ?? 0,
          '2026-01-01T00:00:00Z',
        ]);
        for (const [each, time] of times.entries())
          await writer.run('UPDATE change_log SET at = $2 WHERE version = $1', [versions[each] ?? 0, time]);
      });
    const hour = (each: number) => `2026-01-01T0${each}:00:00Z`;
    for (const [wrong, near] of [
      ['2099-01-01T00:00:00Z', [0]],
      ['1970-01-01T00:00:00Z', [1, 2]],
    ] as const) {
      for (let place = 1; place <= count; place++) {
        await setTimes(versions.map((_, each) => (each + 1 === place ? wrong : hour(each + 1))));
        for (let wanted = 1; wanted <= count; wanted++) {
          // Beside the wrong one, the times do not tell which of two it was.
          if (near.some((each) => place === wanted + each)) continue;
          const { body } = await account.get(`/configuration?at=2026-01-01T0${wanted}:30:00Z`);
          assert.equal(body.entries[0]?.description, `d${wanted}`, `${wrong} at ${place}: ${JSON.stringify(body)}`);
        }
      }
    }
    Object.assign(momentLimits, { changesAtOnce: 2, mostAgainst: 2 });
    await setTimes(versions.map((_, each) => hour(each + 1)));
    const { body } = await account.get('/configuration?at=2026-01-01T03:30:00Z');
    assert.equal(body.entries[0].description, 'd3');
  });

  test('is read for so many calls of an account, and others are refused', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = Array.from({ length: 11 }, () => pastReads.run(account.accountId, () => promise));
    try {
      for (const path of ['/configuration?at=1', '/configuration/diff']) {
        const { status, body } = await account.get(path);
        assert.deepEqual([status, /10 calls wait/.test(body.msg)], [429, true], body.msg);
      }
    } finally {
      resolve();
      await Promise.all(held);
    }
    assert.equal((await account.get('/configuration/diff')).status, 200);
  });

  test('says that a password comes back, also beside other changes, and never which', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const edge =
      (...names: readonly string[]) =>
      (password: string) => ({
        kind: 'https_edges',
        name: 'shop',
        hostports: ['shop.passwords.test:443'],
        routes: { '/': { basic_auth: { credentials: names.map((username) => ({ username, password })) } } },
      });
    const apply = async (...entries: readonly object[]) => {
      const { status, text } = await account.post('/configuration?prune=true', entries);
      assert.equal(status, 200, text);
    };
    await apply(edge('ada')('first password'));
    const first = await account.version();
    const shown = async () => {
      const { text } = await account.post('/configuration/return?dry_run=true', { at: String(first) });
      assert.doesNotMatch(text, /password"?:|digest|salt/);
      return text.includes('(secret)');
    };
    assert.equal(await shown(), false);
    await apply(edge('ada', 'bob')('second password'));
    assert.equal(await shown(), true, 'beside another change');
    await apply(edge('ada')('second password'));
    assert.equal(await shown(), true, 'alone');
    await apply({ ...edge('ada')('x'), routes: { '/': {} } });
    assert.equal(await shown(), true, 'where the module is gone');
    await apply();
    assert.equal(await shown(), true, 'where the edge is gone');
  });

  test('is refused where the log does not go back so far, or does not hold a long list', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const account = await Account.create(gatehouse);
    const { store } = gatehouse.app.context;
    const policy = await gatehouse.create('/ip_policies', {}, account.person);
    const empty = await account.version();
    const list = Array.from({ length: 1_001 }, (_, each) => `10.${each >> 8}.${each & 255}.0/24`);
    assert.equal((await gatehouse.put(`/ip_policies/${policy.id}/rules`, list, account.person)).status, 200);
    const long = await account.version();
    await gatehouse.put(`/ip_policies/${policy.id}/rules`, list.slice(1), account.person);
    const rulesAt = async (version: number) =>
      (await account.get(`/configuration?at=${version}`)).body.entries[0].rules;
    assert.deepEqual(await rulesAt(long), list.toSorted());
    const message = `before version ${long}. Ask for version ${long}, or a later moment`;
    assertRefused(await account.get(`/configuration?at=${empty}`), '20410', new RegExp(message));
    await store.writeUnlogged((writer) => pruneChanges(writer, '2099-01-01T00:00:00Z'));
    await gatehouse.create('/ip_policies', { description: 'new' }, account.person);
    const newest = await account.version();
    const { created_at: time } = (await account.get('/changes?limit=1')).body.changes[0];
    for (const moment of [long, newest - 2, '2026-01-01T00:00:00Z'])
      assertRefused(
        await account.get(`/configuration?at=${moment}`),
        '20408',
        new RegExp(`goes back to ${time} \\(version ${newest}\\)`),
      );
    assert.equal((await account.get(`/configuration?at=${newest - 1}`)).body.entries.length, 1);
  });
});

async function firstOf(account: Account): Promise<number> {
  return (await account.get('/changes?limit=100')).body.changes.at(-1).version;
}
