import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import type { Person } from '../../../test/support/people.ts';
import { isBeingWritten } from '../../../test/support/write-lock.ts';

const path = '/configuration';
const edgeCount = 200;

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
    const dryRun = post(gatehouse, [...others(), ...edges(1_000)], admin, '?dry_run=true').finally(() => over.abort());
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
