import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';

const runs = process.env['TEST_LONG'] === undefined ? 12 : 200;
const seed = process.env['TEST_SEED'];

const text = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((each) => each.isWellFormed() && !each.includes('\0'));
const texts = fc.record({ description: text, metadata: text }, { requiredKeys: [] });
const index = fc.nat({ max: 2 });
const flag = fc.boolean();
const rule = fc.oneof(
  fc.nat({ max: 255 }).map((at) => `10.${at}.0.0/16`),
  fc.nat({ max: 255 }).map((at) => `!192.0.${at}.0/24`),
);
const cidrOf = (each: string) => each.replace('!', '');
const backendModule = fc.record({ enabled: flag, backend: index.map((at) => `backend-${at}`) });
const ipModule = fc.record({
  enabled: flag,
  ip_policies: fc.uniqueArray(index, { minLength: 1 }).map((all) => all.map((at) => `policy-${at}`)),
});
const headers = fc.record({
  add: fc.dictionary(fc.constantFrom('x-a', 'x-b', '__proto__'), fc.constantFrom('', 'v', 'w w')),
  remove: fc.uniqueArray(fc.constantFrom('x-c', 'x-d')),
});
const route = fc.record(
  {
    description: text,
    match_type: fc.constantFrom('path_prefix', 'exact_path'),
    backend: backendModule,
    ip_restriction: ipModule,
    request_headers: headers,
    response_headers: headers,
    compression: fc.record({ enabled: flag }),
  },
  { requiredKeys: [] },
);
const configuration = fc.record({
  policies: fc.array(fc.tuple(texts, fc.uniqueArray(rule, { selector: cidrOf, maxLength: 5 })), {
    minLength: 3,
    maxLength: 3,
  }),
  restrictions: fc.array(fc.tuple(texts, flag, ipModule), { maxLength: 2 }),
  backends: fc.array(fc.tuple(texts, flag, flag), { minLength: 3, maxLength: 3 }),
  tcp: fc.array(
    fc.tuple(texts, fc.record({ backend: backendModule, ip_restriction: ipModule }, { requiredKeys: [] })),
    { maxLength: 3 },
  ),
  https: fc.array(fc.tuple(texts, fc.dictionary(fc.constantFrom('/', '/a', '/a/b', '/ü'), route)), { maxLength: 3 }),
  domains: fc.array(texts, { maxLength: 2 }),
  addrs: fc.array(texts, { maxLength: 2 }),
});
type Configuration = typeof configuration extends fc.Arbitrary<infer Value> ? Value : never;

function toEntries(made: Configuration): readonly object[] {
  const { policies, restrictions, backends, tcp, https, domains, addrs } = made;
  return [
    ...policies.map(([own, rules], at) => ({ kind: 'ip_policies', name: `policy-${at}`, ...own, rules })),
    ...restrictions.map(([own, enforced, { ip_policies }], at) => ({
      kind: 'ip_restrictions',
      name: `restriction-${at}`,
      ...own,
      type: 'endpoints',
      enforced,
      ip_policies,
    })),
    ...backends.map(([own, isGroup, enabled], at) =>
      isGroup
        ? { kind: 'tunnel_group_backends', name: `backend-${at}`, ...own, labels: { app: `a${at}` } }
        : { kind: 'static_backends', name: `backend-${at}`, ...own, address: `a:${at + 1}`, tls: { enabled } },
    ),
    ...tcp.map(([own, modules], at) => ({
      kind: 'tcp_edges',
      name: `t-${at}`,
      ...own,
      hostports: [`a:${10_000 + at}`],
      ...modules,
    })),
    ...https.map(([own, routes], at) => ({
      kind: 'https_edges',
      name: `h-${at}`,
      ...own,
      hostports: [`h-${at}.example:443`],
      routes,
    })),
    ...domains.map((own, at) => ({ kind: 'reserved_domains', name: `d-${at}`, ...own, domain: `d-${at}.example` })),
    ...addrs.map((own, at) => ({ kind: 'reserved_addrs', name: `r-${at}`, ...own, port: 10_000 + at })),
  ];
}

onDatabasesInTurn('random configurations', (newDatabase) => {
  test('what is read from one server and applied to another is read from it the same', async () => {
    await using first = await Gatehouse.start(await newDatabase(), { role: 'api' });
    await using second = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const property = fc.asyncProperty(configuration, async (made) => {
      const [from, to] = [
        await createUser(first, 'admin', await createAccount(first)),
        await createUser(second, 'admin', await createAccount(second)),
      ];
      const post = async (gatehouse: Gatehouse, person: typeof from, entries: unknown, query = '') => {
        const answer = await gatehouse.post(`/configuration${query}`, entries, person);
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      };
      await post(first, from, toEntries(made));
      assert.deepEqual((await post(first, from, toEntries(made), '?dry_run=true')).steps, []);
      const exported = await first.get('/configuration', from);
      await post(second, to, exported.body.entries);
      const copy = await second.get('/configuration', to);
      assert.equal(copy.text, exported.text);
      assert.equal(copy.headers.get('etag'), exported.headers.get('etag'));
      // Makes room for the next one, and shows that everything can go.
      for (const [gatehouse, person] of [
        [first, from],
        [second, to],
      ] as const) {
        await post(gatehouse, person, [], '?prune=true');
        assert.deepEqual((await gatehouse.get('/configuration', person)).body.entries, []);
      }
    });
    await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) });
  });
});
