import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { formatIp, ipFromIpv4Word, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { formatCidr, networkOf, parseCidr } from '../../lib/ip/cidr.ts';
import { Pace } from '../../lib/pace.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { admissionLimits, newAdmissions, TooMuchToTell } from './admissions.ts';
import type { Beside, Entries } from './admissions.ts';

const place = (at: number) => ipFromIpv4Word(0x0a000000 | at);
const addresses = Array.from({ length: 16 }, (_, at) => place(at));

const anyRules = fc.uniqueArray(
  fc
    .tuple(fc.nat(15), fc.integer({ min: 28, max: 32 }), fc.boolean())
    .map(([at, prefix, isDenial]) => `${isDenial ? '!' : ''}${formatCidr(networkOf(place(at), prefix))}`),
  { maxLength: 6, selector: (rule) => rule.replace('!', '') },
);
const names = fc.subarray(['a', 'b', 'c'], { minLength: 1 });
const anyConfiguration = fc.record({
  policies: fc.record({ a: anyRules, b: anyRules, c: anyRules }),
  restrictions: fc.array(fc.record({ ip_policies: names, enforced: fc.boolean() }), { maxLength: 2 }),
  edge: fc.option(names),
});
type Configuration = typeof anyConfiguration extends fc.Arbitrary<infer Made> ? Made : never;

const edgeName = 'tcp_edges shop';

function entriesOf({ policies, restrictions, edge }: Configuration): Entries {
  const named = (all: readonly EntryFields[]) => new Map(all.map((fields, at) => [`r${at}`, fields]));
  return new Map([
    ['ip_policies', new Map(Object.entries(policies).map(([name, rules]) => [name, { rules }]))],
    ['ip_restrictions', named(restrictions.map((each) => ({ type: 'endpoints', ...each })))],
    [
      'tcp_edges',
      new Map([
        ['shop', { hostports: ['shop.test:1'], ...(edge === null ? {} : { ip_restriction: { ip_policies: edge } }) }],
      ]),
    ],
  ]);
}

/** Goes through all rules, as the documentation says. */
function admitsAt({ policies, restrictions, edge }: Configuration): (ip: IpAddress) => boolean {
  const lists = [
    ...restrictions.flatMap(({ enforced, ip_policies }) => (enforced ? [ip_policies] : [])),
    ...(edge === null ? [] : [edge]),
  ];
  const decide = lists.map((list) =>
    naiveLookup(
      list.flatMap((name) =>
        policies[name as 'a'].map((rule) => {
          const parsed = parseCidr(rule.replace('!', ''));
          assert.ok(parsed.ok);
          return { cidr: parsed.cidr, flags: rule.startsWith('!') ? 2 : 1 };
        }),
      ),
    ),
  );
  return (ip) => decide.every((flags) => flags(ip) === 1);
}

const tell = async (before: Entries, after: Entries, beside: Partial<Beside> = {}) =>
  (await newAdmissions(before, after, { users: [], wildcards: [], ...beside }, (id) => id, new Pace())).admissions;

test('somebody new is told if, and only if, a search of all addresses finds one', async () => {
  await fc.assert(
    fc.asyncProperty(anyConfiguration, anyConfiguration, async (before, after) => {
      const [was, is] = [admitsAt(before), admitsAt(after)];
      // One address stands for all that no rule is about.
      const all = [...addresses, ...['203.0.113.7', '2001:db8::7'].flatMap((text) => parseIp(text) ?? [])];
      const fresh = all.filter((ip) => is(ip) && !was(ip)).map(formatIp);
      const told = (await tell(entriesOf(before), entriesOf(after))).filter(({ to }) => to === edgeName);
      assert.deepEqual(
        told.map(({ answer }) => answer),
        fresh.length > 0 ? ['yes'] : [],
      );
      const [{ example } = { example: undefined }] = told;
      if (example !== undefined) assert.ok(is(parseIp(example)!) && !was(parseIp(example)!), example);
    }),
    { numRuns: 600 },
  );
});

const edgeWith = (modules: EntryFields): Entries =>
  new Map([['tcp_edges', new Map([['shop', { hostports: ['shop.test:1'], ...modules }]])]]);

test('a guard that is taken away lets in whom it kept out, and one that is added nobody', async () => {
  const edgeOf = (route: EntryFields): Entries =>
    new Map([['https_edges', new Map([['shop', { hostports: ['shop.test:443'], routes: { '/': route } }]])]]);
  const guarded = edgeOf({ basic_auth: { credentials: [] } });
  const [told] = await tell(guarded, edgeOf({}));
  assert.equal(told?.answer, 'yes');
  assert.equal(told.example, '203.0.113.7');
  assert.deepEqual(await tell(edgeOf({}), guarded), []);
  assert.deepEqual(await tell(guarded, guarded), []);
});

test('a guard whose settings change is not told to admit nobody', async () => {
  const policyOf = (path: string) => {
    const rule = { expressions: [`req.url.path == '${path}'`], actions: [{ type: 'deny' }] };
    return edgeWith({ traffic_policy: { value: JSON.stringify({ on_http_request: [rule] }) } });
  };
  assert.deepEqual(
    (await tell(policyOf('/a'), policyOf('/b'))).map(({ answer }) => answer),
    ['unknown'],
  );
  assert.deepEqual(await tell(policyOf('/a'), policyOf('/a')), []);
});

test('an answer that a traffic policy gives keeps from what is behind it whoever gets it', async () => {
  const edgeThat = (rule: object) =>
    edgeWith({ traffic_policy: { value: JSON.stringify({ on_http_request: [rule] }) } });
  const answer = (body: string, status_code = 200) => ({
    actions: [{ type: 'custom-response', config: { status_code, body } }],
  });
  const answers = async (before: Entries, after: Entries) => (await tell(before, after)).map((each) => each.answer);
  assert.deepEqual(await answers(edgeThat(answer('Away.')), edgeWith({})), ['yes']);
  assert.deepEqual(await answers(edgeThat(answer('No.', 403)), edgeWith({})), ['yes']);
  assert.deepEqual(await answers(edgeThat(answer('Away.')), edgeThat(answer('Back soon.'))), []);
  const some = { expressions: ["req.url.path == '/'"], ...answer('No.', 403) };
  assert.deepEqual(await answers(edgeThat(some), edgeWith({})), ['unknown']);
});

test('what is new somewhere, or gets the visitors of what goes, is told', async () => {
  const edges = (all: Readonly<Record<string, EntryFields>>): Entries =>
    new Map([['https_edges', new Map(Object.entries(all))]]);
  const edge = (host: string, routes: EntryFields) => ({ hostports: [`${host}:443`], routes });
  const guarded = { basic_auth: { credentials: [] } };
  const answers = async (before: Entries, after: Entries) => (await tell(before, after)).map(({ answer }) => answer);
  const one = edges({ a: edge('a.test', { '/': {} }) });
  assert.deepEqual(await answers(edges({}), one), ['yes']);
  assert.deepEqual(await answers(one, edges({ a: edge('b.test', { '/': {} }) })), ['yes']);
  assert.deepEqual(await answers(one, edges({})), []);
  const both = edges({ a: edge('a.test', { '/': {}, '/admin': guarded }) });
  assert.deepEqual(await answers(both, one), ['unknown'], 'the other route gets its paths');
  const wild = { wild: edge('*.test', { '/': {} }) };
  assert.deepEqual(await answers(edges({ ...wild, a: edge('a.test', { '/': guarded }) }), edges(wild)), ['unknown']);
});

test('visitors of names that go come to wildcards of endpoints too', async () => {
  const cloud = (all: Readonly<Record<string, string>>): Entries =>
    new Map([
      ['cloud_endpoints', new Map(Object.entries(all).map(([name, url]) => [name, { url, traffic_policy: '{}' }]))],
    ]);
  const wild = { wild: 'https://*.shop.test' };
  const answers = async (before: Entries, after: Entries, beside?: Partial<Beside>) =>
    (await tell(before, after, beside)).map(({ to, answer }) => [to, answer]);
  const both = cloud({ ...wild, one: 'https://a.shop.test' });
  assert.deepEqual(await answers(both, cloud(wild)), [['cloud_endpoints wild', 'unknown']]);
  const edge = edgeWith({ ip_restriction: { ip_policies: [] } });
  const wildcards = [{ id: 'ep_1', url: 'https://*.test' }];
  assert.deepEqual(await answers(edge, new Map(), { wildcards }), [['ep_1', 'unknown']]);
  assert.deepEqual(await answers(edge, edge, { wildcards }), []);
});

test('a certificate authority that becomes another under its name may let in others', async () => {
  const db = { hostports: ['db.test:443'], mutual_tls: { certificate_authorities: ['staff'] } };
  const entries = (ca_pem: string): Entries =>
    new Map<string, ReadonlyMap<string, EntryFields>>([
      ['certificate_authorities', new Map([['staff', { ca_pem }]])],
      ['tls_edges', new Map([['db', db]])],
    ]);
  assert.deepEqual(
    (await tell(entries('one'), entries('other'))).map(({ to, answer }) => [to, answer]),
    [['tls_edges db', 'unknown']],
  );
  assert.deepEqual(await tell(entries('one'), entries('one')), []);
});

test('what is compared has a bound, and what stays as it is does not count', async () => {
  const usual = { ...admissionLimits };
  const rules = Array.from({ length: 100 }, (_, at) => `10.0.${at}.0/24`);
  const edges = new Map(
    Array.from({ length: 50 }, (_, at): [string, EntryFields] => [
      `e${at}`,
      { hostports: [`e${at}.test:1`], ip_restriction: { ip_policies: ['all', `own${at}`] } },
    ]),
  );
  const own = Array.from({ length: 50 }, (_, at): [string, EntryFields] => [
    `own${at}`,
    { rules: [`10.1.${at}.0/24`] },
  ]);
  const entries = (all: readonly string[], more: readonly [string, EntryFields][] = []): Entries =>
    new Map([
      ['ip_policies', new Map([['all', { rules: all }], ...own])],
      ['tcp_edges', new Map([...edges, ...more])],
    ]);
  const before = entries(rules);
  const one: [string, EntryFields] = ['new', { hostports: ['new.test:1'] }];
  const after: Entries = new Map([...before, ['tcp_edges', new Map([...edges, one])]]);
  try {
    for (const [mostRules, mostKept] of [
      [3_000, usual.mostKept],
      [usual.mostRules, 0],
    ] as const) {
      Object.assign(admissionLimits, { mostRules, mostKept });
      assert.deepEqual(
        (await tell(before, after)).map(({ to }) => to),
        ['tcp_edges new'],
      );
      const wider = entries([...rules, '192.0.2.0/24']);
      if (mostKept === 0) assert.equal((await tell(before, wider)).length, 50);
      else await assert.rejects(tell(before, wider), TooMuchToTell);
    }
  } finally {
    Object.assign(admissionLimits, usual);
  }
});

test('routes that go, and names that wildcards get, are found by index', async () => {
  const count = 20_000;
  const routes = (prefix: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`/${prefix}${at}`, {}]));
  const edge = (prefix: string): Entries =>
    new Map([['https_edges', new Map([['shop', { hostports: ['*.shop.test:443'], routes: routes(prefix) }]])]]);
  const cloud = new Map(
    Array.from({ length: count }, (_, at): [string, EntryFields] => [
      `c${at}`,
      { url: `https://c${at}.shop.test`, traffic_policy: '{}' },
    ]),
  );
  const found = await newAdmissions(
    new Map([...edge('a'), ['cloud_endpoints', cloud]]),
    edge('b'),
    { users: [], wildcards: [] },
    (id) => id,
    new Pace(),
  );
  assert.deepEqual([found.answer, found.admissions.length, found.total], ['yes', 100, count * 2 + 1]);
});
