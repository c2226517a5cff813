import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import fc from 'fast-check';

import { rounds } from '../../support/long-form.ts';
import type { Visitor } from '../../support/visitor.ts';
import { SignInSite, start } from './support/sign-in-site.ts';

/** People as their provider knows them, and as somebody describes them: an address that is not verified is not told. */
const people = {
  ada: { email: 'ada@example.com', groups: ['ops', 'a, b'], claims: { department: ['sales'] } },
  bob: { email: 'bob@partner.example' },
  eve: { groups: ['carriers'] },
} as const;
const eveAddress = 'eve@example.com';
/** One in the office, one outside. */
const sources = ['127.0.0.2', '127.0.0.1'] as const;

let at: SignInSite;
let office: string;
/** Browsers of everybody in both places. */
let browsers: readonly { readonly name: keyof typeof people; readonly from: string; readonly browser: Visitor }[];
before(async () => {
  at = await SignInSite.start();
  office = await at.site.policy('127.0.0.2/32');
  browsers = (['ada', 'bob', 'eve'] as const).flatMap((name) =>
    sources.map((from) => ({ name, from, browser: at.visitor(from) })),
  );
});
after(() => at[Symbol.asyncDispose]());

const some = (...values: readonly string[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined, freq: 2 });
const logins = fc.record({
  network: fc.constantFrom('any', 'or_login', 'and_login'),
  email_addresses: some('Ada@example.com', eveAddress, 'nobody@example.com'),
  email_domains: some('partner.example', 'example.com'),
  groups: some('carriers', 'a, b', 'none'),
  claims: fc.option(fc.constantFrom('sales', 'support'), { nil: undefined, freq: 2 }),
  unverified_email: fc.boolean(),
  isRestricted: fc.boolean(),
});

let number = 0;

test('POST /ip_check tells of a described person what a login of that person meets', async () => {
  const verdicts = { enters: 0, refused: 0, asked: 0 };
  await fc.assert(
    fc.asyncProperty(logins, async ({ network, claims, isRestricted, ...rules }) => {
      const { gatehouse, edgeId, backendId } = at.site;
      const match = `/case-${(number += 1)}`;
      const login = at.settings({
        ...Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined)),
        ...(claims && { claims: { department: [claims] } }),
        network,
        ...(network !== 'any' && { ip_policy_ids: [office] }),
      });
      const { id } = await gatehouse.create(`/edges/https/${edgeId}/routes`, {
        match_type: 'path_prefix',
        match,
        backend: { backend_id: backendId },
        oidc: login,
        ...(isRestricted && { ip_restriction: { ip_policy_ids: [office] } }),
      });
      for (const { name, from, browser } of browsers) {
        const person = { ...people[name], ...(name === 'eve' && rules.unverified_email && { email: eveAddress }) };
        const { status, body: told } = await gatehouse.post('/ip_check', { ip: from, route_id: id, visitor: person });
        assert.equal(status, 200, JSON.stringify(told));
        const seen = await browser.signIn(`${start.slice(0, -1)}${match}/page`, name);
        const words = `${name} from ${from}, ${JSON.stringify(login)}: ${seen.status}, ${told.explanation}`;
        const isAsked = told.allowed && told.further_checks.length > 0;
        verdicts[isAsked ? 'asked' : told.allowed ? 'enters' : 'refused'] += 1;
        // Nobody has said whether the person has a claim that was not described.
        if (isAsked)
          assert.ok(claims !== undefined && !('claims' in person) && [200, 403].includes(seen.status), words);
        else assert.equal(seen.status, told.allowed ? 200 : 403, words);
      }
      await gatehouse.delete(`/edges/https/${edgeId}/routes/${id}`);
    }),
    { numRuns: rounds(15, 1000), seed: 43 },
  );
  assert.ok(
    Object.values(verdicts).every((count) => count > 5),
    JSON.stringify(verdicts),
  );
});
