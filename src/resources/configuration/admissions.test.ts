import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { formatIp, ipFromIpv4Word, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { formatCidr, networkOf, parseCidr } from '../../lib/ip/cidr.ts';
import { Pace } from '../../lib/pace.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { newAdmissions } from './admissions.ts';
import type { Entries } from './admissions.ts';

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

const tell = (before: Entries, after: Entries) => newAdmissions(before, after, [], (id) => id, new Pace());

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
  const answer = (body: string, status_code = 200) => ({ actions: [{ type: 'custom-response', config: { status_code, body } }] });
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
