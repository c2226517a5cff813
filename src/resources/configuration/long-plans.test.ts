import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser, runOnHost } from '../../../test/support/people.ts';
import type { Person } from '../../../test/support/people.ts';
import { isBeingWritten } from '../../../test/support/write-lock.ts';
import { overQuota, policiesTooLarge } from '../../errors/shared.ts';

const path = '/configuration';
/** Steps of several pieces. */
const edgeCount = 100;

interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Edges over a few backends; `hostOf` says which host name each has. */
function edges(count: number, hostOf = (at: number) => at): readonly Entry[] {
  return Array.from({ length: count }, (_, at) => ({
    kind: 'https_edges',
    name: `edge-${at}`,
    hostports: [`host-${hostOf(at)}.example.com:443`],
    routes: { '/': { backend: { backend: `app-${at % 10}` }, ip_restriction: { ip_policies: [`policy-${at % 10}`] } } },
  }));
}

const wildcard = { kind: 'reserved_domains', name: 'all', domain: '*.example.com' };

/** Public endpoints; `hostOf` says which host name each has. */
function endpoints(
  count: number,
  { hostOf = (at: number) => at, pooled = false, description = '' } = {},
): readonly Entry[] {
  return Array.from({ length: count }, (_, at) => ({
    kind: 'cloud_endpoints',
    name: `endpoint-${at}`,
    url: `https://host-${hostOf(at)}.example.com`,
    traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}',
    pooling_enabled: pooled,
    description,
  }));
}

function others(rules: readonly string[] = ['10.0.0.0/8']): readonly Entry[] {
  return Array.from({ length: 10 }, (_, at) => [
    { kind: 'static_backends', name: `app-${at}`, address: `app-${at}:80` },
    { kind: 'ip_policies', name: `policy-${at}`, rules },
    { kind: 'reserved_domains', name: `domain-${at}`, domain: `host-${at}.example.com` },
  ]).flat();
}

onDatabasesInTurn('plans of many steps', (newDatabase) => {
  const start = async () => {
    const gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const newAdmin = async () => createUser(gatehouse, 'admin', await createAccount(gatehouse));
    return { gatehouse, newAdmin };
  };
  const post = (gatehouse: Gatehouse, entries: readonly Entry[], person: Person, query: string) =>
    gatehouse.post(`${path}${query}`, entries, person);

  /** Plans, applies, and checks that both say the same of each step. */
  const planAndApply = async (
    gatehouse: Gatehouse,
    entries: readonly Entry[],
    person: Person,
    prune = '',
  ): Promise<void> => {
    const before = await gatehouse.get(path, person);
    const planned = await post(gatehouse, entries, person, `?dry_run=true${prune}`);
    assert.equal(planned.status, 200, planned.text);
    assert.equal((await gatehouse.get(path, person)).text, before.text);
    const applied = await post(gatehouse, entries, person, `?dry_run=false${prune}`);
    assert.equal(applied.status, 200, applied.text);
    const shown = ({ steps }: { steps: readonly { id: unknown; action: string }[] }) =>
      steps.map((step) => (step.action === 'create' ? { ...step, id: null } : step));
    assert.deepEqual(shown(planned.body), shown(applied.body));
    assert.ok(planned.body.steps.length > 64);
  };

  test('a plan promises what applying then does: creating, exchanging host names, deleting', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    await planAndApply(gatehouse, [...others(), ...edges(edgeCount)], admin);
    const halfway = (at: number) => (at + edgeCount / 2) % edgeCount;
    await planAndApply(gatehouse, [...others(['192.0.2.0/24']), ...edges(edgeCount, halfway)], admin);
    await planAndApply(gatehouse, [], admin, '&prune=true');
    assert.deepEqual((await gatehouse.get(path, admin)).body.entries, []);
  });

  test('a plan meets the faults of applying, wherever they are', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const [admin, other] = [await newAdmin(), await newAdmin()];
    await gatehouse.create('/edges/https', { hostports: ['taken.example.com:443'] }, other);
    await post(gatehouse, [...others(), ...edges(edgeCount)], admin, '');
    const last = { kind: 'https_edges', name: 'last', hostports: ['taken.example.com:443'] };
    const changed = edges(edgeCount).map((edge) => ({ ...edge, description: 'changed' }));
    const restriction = (name: string, ip_policies: readonly string[]) => ({
      kind: 'ip_restrictions',
      name,
      type: 'api',
      enforced: true,
      ip_policies,
    });
    const faults: Readonly<Record<string, readonly [readonly Entry[], string]>> = {
      'a name of another account': [[...others(), ...changed, last], ''],
      'a name that two entries want': [
        [
          ...others(),
          ...changed,
          { ...last, hostports: ['new.example.com:443'] },
          { ...last, name: 'more', hostports: ['new.example.com:443'] },
        ],
        '',
      ],
      'a backend that goes while an edge stays': [
        [...others().filter(({ name }) => name !== 'app-9'), ...edges(10)],
        '&prune=true',
      ],
      'a domain that goes while an edge has it': [
        [...others().filter(({ name }) => name !== 'domain-9'), ...changed],
        '&prune=true',
      ],
      'a lock-out': [[...others(), ...changed, restriction('api', ['policy-1'])], ''],
    };
    for (const [title, [entries, prune]] of Object.entries(faults)) {
      const planned = await post(gatehouse, entries, admin, `?dry_run=true${prune}`);
      const applied = await post(gatehouse, entries, admin, `?dry_run=false${prune}`);
      assert.equal(planned.status, 409, `${title}: ${planned.text.slice(0, 300)}`);
      assert.equal(planned.body.error_code, applied.body.error_code, title);
    }
  });

  test('a plan promises what applying does with endpoints, the domains and vaults that they need, and their pools', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    const apply = (entries: readonly Entry[], prune = '') => planAndApply(gatehouse, entries, admin, prune);
    // Endpoints below one wildcard, whose pieces all need it.
    await apply([wildcard, ...endpoints(100)]);
    const halfway = (at: number) => (at + 50) % 100;
    await apply([wildcard, ...endpoints(100, { hostOf: halfway, description: 'moved' })]);
    // One joins each endpoint, which is declared behind it, and shares its URL from then on.
    const shared = { hostOf: halfway, pooled: true };
    const joining = endpoints(100, shared).map((each) => ({ ...each, name: `${each.name}-too` }));
    await apply([...joining, wildcard, ...endpoints(100, { ...shared, description: 'two' })]);
    const alone = endpoints(50, { hostOf: halfway, description: 'alone' });
    const elsewhere = joining.slice(0, 50).map((each, at) => ({ ...each, url: `https://joined-${at}.example.com` }));
    await apply([...alone, wildcard, ...elsewhere]);
    await apply([wildcard, ...endpoints(100)], '&prune=true');
    // Names of their own take the place of the wildcard, and no endpoint is changed.
    const names = [...Array(100).keys()].map((at) => `host-${at}.example.com`);
    const own = names.map((domain) => ({ kind: 'reserved_domains', name: domain, domain }));
    await apply([...endpoints(100), ...own], '&prune=true');
    await apply([], '&prune=true');
  });

  test('a plan promises what applying does where a name goes from an endpoint to an edge, and back', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    const tied = (at: number) => ({ ...edges(1)[0]!, name: `edge-${at}`, hostports: [`host-${at}.example.com:443`] });
    const untied = (entry: Entry, at: number) => ({ ...entry, hostports: [`edge-${at}.example.com:443`] });
    const all = [...Array(40).keys()].map(tied);
    const inner = (entry: Entry, at: number) => ({ ...entry, url: `https://inner-${at}.internal` });
    const moved = endpoints(40);
    await planAndApply(gatehouse, [...others(), wildcard, ...all.map(untied), ...moved], admin);
    await planAndApply(gatehouse, [...all, ...moved.map(inner), ...others(), wildcard], admin);
    await planAndApply(gatehouse, [...all.map(untied), ...moved, ...others(), wildcard], admin);
  });

  test('a plan promises what applying does with vaults and IP policies that policies name', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    const vaults = (nameOf: (at: number) => string) =>
      ['a', 'b'].map((each, at) => ({ kind: 'vaults', name: `vault-${each}`, vault: nameOf(at) }));
    await post(
      gatehouse,
      vaults((at) => `keys-${at}`),
      admin,
      '',
    );
    await gatehouse.create('/vault_secrets', { vault_name: 'keys-0', name: 'key', value: 'v' }, admin);
    const { id } = await gatehouse.create('/ip_policies', {}, admin);
    const naming = (vault: string) => ({
      actions: [{ type: 'add-headers', config: { headers: { key: `\${secrets.get('${vault}', 'key')}` } } }],
    });
    const asking = { actions: [{ type: 'restrict-ips', config: { ip_policies: [id] } }] };
    const policy = (...rules: readonly object[]) =>
      JSON.stringify({ on_http_request: [...rules, { actions: [{ type: 'deny' }] }] });
    const holders = (traffic_policy: string) => [
      ...endpoints(70).map((entry, at) => ({ ...entry, url: `https://inner-${at}.internal`, traffic_policy })),
      ...edges(70).map((entry) => ({ ...entry, routes: { '/': { traffic_policy: { value: traffic_policy } } } })),
    ];
    const named = { kind: 'ip_policies', name: 'named' };
    // Both vaults exchange their names, and the other one is named by then.
    await planAndApply(gatehouse, [...holders(policy(naming('keys-1'))), ...vaults((at) => `keys-${1 - at}`)], admin);
    await planAndApply(gatehouse, [...holders(policy(asking))], admin);
    const [entry] = (await gatehouse.get(path, admin)).body.entries;
    assert.equal(entry.kind, named.kind);
    // The IP policy goes with the last that names it.
    await planAndApply(gatehouse, [...holders(policy()), ...vaults((at) => `keys-${1 - at}`)], admin, '&prune=true');
    const kinds = (await gatehouse.get(path, admin)).body.entries.map((each: Entry) => each.kind);
    assert.ok(!kinds.includes(named.kind));
  });

  test('a plan meets the faults of endpoints and vaults that applying would meet', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    await post(gatehouse, [...others(), wildcard, ...endpoints(100)], admin, '');
    const changed = endpoints(100, { description: 'changed' });
    const inner = (name: string, more: object = {}) => ({ ...changed[0]!, name, url: 'https://new.internal', ...more });
    const renamed = (entry: Entry) => ({ ...entry, name: `${entry.name}-new` });
    const faults: Readonly<Record<string, readonly [readonly Entry[], string]>> = {
      'a URL that two want': [[wildcard, inner('new'), ...changed, inner('newer')], ''],
      'a URL that two want, of which one shares it': [
        [wildcard, inner('new', { pooling_enabled: true }), ...changed, inner('newer')],
        '',
      ],
      'a wildcard that goes while endpoints stay': [[...others(), ...changed], '&prune=true'],
      'a vault that two want': [
        [
          wildcard,
          { kind: 'vaults', name: 'one', vault: 'keys' },
          ...changed,
          { kind: 'vaults', name: 'other', vault: 'keys' },
        ],
        '',
      ],
      'URLs that are taken while nothing is pruned': [[wildcard, ...changed.map(renamed)], ''],
    };
    for (const [title, [entries, prune]] of Object.entries(faults)) {
      const planned = await post(gatehouse, entries, admin, `?dry_run=true${prune}`);
      const applied = await post(gatehouse, entries, admin, `?dry_run=false${prune}`);
      assert.equal(planned.status, 409, `${title}: ${planned.text.slice(0, 300)}`);
      assert.equal(planned.body.error_code, applied.body.error_code, title);
    }
  });

  test('a plan meets the quotas that applying would meet, and no others', async () => {
    const { gatehouse } = await start();
    await using _ = gatehouse;
    const account = await createAccount(gatehouse);
    const admin = await createUser(gatehouse, 'admin', account);
    const set = (wanted: string) => runOnHost(gatehouse, 'accounts quotas', { set: wanted, account });
    const inner = (count: number, more: object = {}) =>
      endpoints(count).map((each, at) => ({ ...each, url: `https://inner-${at}.internal`, ...more }));
    const used = async (name: string): Promise<number> =>
      (await gatehouse.get('/quotas', admin)).body.quotas.find((each: { name: string }) => each.name === name).used;
    await planAndApply(gatehouse, [...others(), ...inner(100)], admin);
    const memory = await used('traffic_policy_kib');
    const rules = Array.from({ length: 50 }, (__, at) => ({ expressions: [`req.url.path == '/${at}'`], actions: [] }));
    const deny = { actions: [{ type: 'deny' }] };
    const larger = JSON.stringify({ on_http_request: [...rules.map((each) => ({ ...each, ...deny })), deny] });
    const named = (entries: readonly Entry[]) =>
      entries.map((each, at) => ({ ...each, name: `${each.name}-new`, url: `https://new-${at}.internal` }));
    const refused = async (entries: readonly Entry[], code: number, text: string, prune = '') => {
      const planned = await post(gatehouse, entries, admin, `?dry_run=true${prune}`);
      const applied = await post(gatehouse, entries, admin, `?dry_run=false${prune}`);
      for (const { status, body } of [planned, applied]) {
        assert.deepEqual([status, body.error_code], [403, `ERR_GATEHOUSE_${code}`], body.msg);
      }
      assert.ok(planned.body.msg.includes(text), planned.body.msg);
    };
    // Each piece alone would have a place, and the last endpoint has none.
    await set('endpoints=169');
    await refused([...others(), ...inner(170)], overQuota.code, 'endpoint-169');
    await planAndApply(gatehouse, [...others(), ...inner(169)], admin);
    // As many go as come, and endpoints go first.
    await planAndApply(gatehouse, [...others(), ...named(inner(169))], admin, '&prune=true');
    // Backends come before others go.
    const backends = Array.from({ length: 100 }, (__, at) => ({
      kind: 'static_backends',
      name: `new-${at}`,
      address: 'app:80',
    }));
    await set('backends=109');
    await refused([...backends, ...named(inner(169))], overQuota.code, 'new-99', '&prune=true');
    await set('backends=110');
    await planAndApply(gatehouse, [...backends, ...named(inner(169))], admin, '&prune=true');
    await set(`traffic_policy_kib=${memory * 4}`);
    await refused(named(inner(169, { traffic_policy: larger })), policiesTooLarge.code, 'KiB of memory');
    await set('traffic_policy_kib=100000');
    await planAndApply(gatehouse, named(inner(169, { traffic_policy: larger })), admin);
  });

  test('the lock-out guard of a plan looks at the end of all steps', async () => {
    const { gatehouse, newAdmin } = await start();
    await using _ = gatehouse;
    const admin = await newAdmin();
    const api = { kind: 'ip_restrictions', name: 'api', type: 'api', enforced: true, ip_policies: ['first'] };
    const policies = (first: string, second: string) => [
      { kind: 'ip_policies', name: 'first', rules: [first] },
      { kind: 'ip_policies', name: 'second', rules: [second] },
    ];
    await planAndApply(gatehouse, [...policies('127.0.0.0/8', '192.0.2.0/24'), api, ...others(), ...edges(100)], admin);
    const changed = edges(100).map((edge) => ({ ...edge, description: 'changed' }));
    // The first policy refuses the caller before the restriction has the second.
    const swapped = [
      ...policies('192.0.2.0/24', '127.0.0.0/8'),
      ...others(),
      ...changed,
      { ...api, ip_policies: ['second'] },
    ];
    await planAndApply(gatehouse, swapped, admin);
  });

  test("another account's write does not wait for a dry run", { timeout: 120_000 }, async () => {
    const url = await newDatabase();
    await using gatehouse = await Gatehouse.start(url, { role: 'api' });
    const newAdmin = async () => createUser(gatehouse, 'admin', await createAccount(gatehouse));
    const [admin, other] = [await newAdmin(), await newAdmin()];
    const over = new AbortController();
    const dryRun = post(gatehouse, [...others(), ...edges(400)], admin, '?dry_run=true').finally(() => over.abort());
    const isRehearsed = async () => {
      while (!over.signal.aborted) if (await isBeingWritten(url)) return true;
      return false;
    };
    assert.ok(await isRehearsed(), 'the dry run never wrote');
    await gatehouse.create('/ip_policies', {}, other);
    assert.ok(await isRehearsed(), 'the write was answered after the dry run had written everything');
    assert.equal((await dryRun).status, 200);
  });
});
