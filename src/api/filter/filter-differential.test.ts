import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import type { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

interface Shown {
  readonly id: string;
  readonly description?: string;
  readonly metadata?: string;
  readonly expires_at?: string;
  readonly read_only?: true;
  readonly ip_policy_ids?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A filter as text, and what it means for an entry as it is shown. */
interface Filter {
  readonly text: string;
  readonly passes: (entry: Shown) => boolean;
}

/** Texts that a database could take for something else, or compare in another way. */
const texts = [
  '',
  'a',
  'A',
  'ab',
  'ä',
  'ÄaK',
  'z',
  'a%b',
  'a_b',
  '%',
  "it's",
  "' OR 1=1 --",
  '"x"',
  'back\\slash',
  '\\',
  '\\u0000',
  'nul\0x',
  '\\\\u0000',
  '😀',
  '\uffff',
  '\n',
  ' ',
  'true',
  'null',
  '1',
  '$1',
  '?',
  '{"a":1}',
  'x'.repeat(200),
];
const keys = ['app', 'Env', 'a_b'];
const times = ['2030-01-01T00:00:00Z', '2030-01-01T00:00:01Z', '2031-06-15T12:30:00Z', '2040-12-31T23:59:59Z'];

/** NUL is no part of any text that a database compares. */
const readable = (text: string | undefined) => (text ?? '').replaceAll('\0', '\ufffd');
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const outcomes: Readonly<Record<string, (order: number) => boolean>> = {
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};
const operator = fc.constantFrom(...Object.keys(outcomes));
const text = fc.constantFrom(...texts.filter((each) => !each.includes('\0')), 'nul\ufffdx', 'B', '\ufffd');

/** Written with escapes for everything but ASCII every other time. */
function quoted(value: string): string {
  const json = JSON.stringify(value);
  return value.length % 2 === 0
    ? json
    : json.replaceAll(/[^\0-~]/gu, (each) => `\\U${each.codePointAt(0)?.toString(16).padStart(8, '0')}`);
}

function textConditions(name: string, of: (entry: Shown) => string): readonly fc.Arbitrary<Filter>[] {
  const lowered = (entry: Shown): string => of(entry).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return [
    ...plainTextConditions(name, of),
    ...plainTextConditions(`${name}.lowerAscii()`, lowered),
    nullCondition(name, (entry) => of(entry) === ''),
  ];
}

function plainTextConditions(name: string, of: (entry: Shown) => string): readonly fc.Arbitrary<Filter>[] {
  const compared = fc.tuple(operator, text, fc.boolean()).map(([sign, to, isTurned]): Filter => {
    const turned = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }[sign] ?? sign;
    return {
      text: isTurned ? `${quoted(to)} ${turned} obj.${name}` : `obj.${name} ${sign} ${quoted(to)}`,
      passes: (entry) => outcomes[sign]?.(byBytes(of(entry), to)) ?? false,
    };
  });
  const oneOf = fc.array(text, { maxLength: 4 }).map((all): Filter => ({
    text: `obj.${name} in [${all.map(quoted).join(', ')}]`,
    passes: (entry) => all.includes(of(entry)),
  }));
  const part = fc.tuple(fc.constantFrom('contains', 'startsWith', 'endsWith'), text).map(([call, piece]): Filter => {
    const check = { contains: 'includes', startsWith: 'startsWith', endsWith: 'endsWith' } as const;
    return {
      text: `obj.${name}.${call}(${quoted(piece)})`,
      // The name is one of the three.
      passes: (entry) => of(entry)[check[call as 'contains']](piece),
    };
  });
  const size = fc.tuple(operator, fc.integer({ min: -1, max: 8 })).map(([sign, to]): Filter => ({
    text: `size(obj.${name}) ${sign} ${to}`,
    passes: (entry) => outcomes[sign]?.(Array.from(of(entry)).length - to) ?? false,
  }));
  return [compared, oneOf, part, size];
}

function nullCondition(name: string, isUnset: (entry: Shown) => boolean): fc.Arbitrary<Filter> {
  return fc.boolean().map((isEqual) => ({
    text: `obj.${name} ${isEqual ? '==' : '!='} null`,
    passes: (entry) => isUnset(entry) === isEqual,
  }));
}

const timeCondition = fc
  .tuple(operator, fc.constantFrom(...times), fc.constantFrom('Z', '.5Z', '+02:00'))
  .map(([sign, time, zone]): Filter => {
    const written = time.replace('Z', zone);
    const ms = Date.parse(written);
    return {
      text: `obj.expires_at ${sign} timestamp("${written}")`,
      passes: ({ expires_at: at }) =>
        at === undefined ? sign === '!=' : (outcomes[sign]?.(Date.parse(at) - ms) ?? false),
    };
  });

const booleanCondition = fc.constantFrom<Filter>(
  { text: 'obj.read_only', passes: (entry) => entry.read_only === true },
  { text: 'obj.read_only == false', passes: (entry) => entry.read_only !== true },
  { text: 'obj.read_only != false', passes: (entry) => entry.read_only === true },
  { text: 'true', passes: () => true },
  { text: 'false', passes: () => false },
);

function listConditions(policies: readonly string[]): readonly fc.Arbitrary<Filter>[] {
  const of = ({ ip_policy_ids: ids = [] }: Shown) => ids;
  return [
    fc.constantFrom(...policies, 'ipp_none').map((id) => ({
      text: `"${id}" in obj.ip_policy_ids`,
      passes: (entry) => of(entry).includes(id),
    })),
    fc.tuple(operator, fc.integer({ min: 0, max: 3 })).map(([sign, to]) => ({
      text: `size(obj.ip_policy_ids) ${sign} ${to}`,
      passes: (entry) => outcomes[sign]?.(of(entry).length - to) ?? false,
    })),
    nullCondition('ip_policy_ids', (entry) => of(entry).length === 0),
  ];
}

const mapConditions: readonly fc.Arbitrary<Filter>[] = [
  ...keys.flatMap((key) => textConditions(`labels.${key}`, ({ labels }) => readable(labels?.[key]))),
  fc.constantFrom(...keys, 'none').map((key) => ({
    text: `"${key}" in obj.labels`,
    passes: ({ labels = {} }) => Object.hasOwn(labels, key),
  })),
  fc.tuple(operator, fc.integer({ min: 0, max: 3 })).map(([sign, to]) => ({
    text: `size(obj.labels) ${sign} ${to}`,
    passes: ({ labels = {} }) => outcomes[sign]?.(Object.keys(labels).length - to) ?? false,
  })),
];

function filters(leaves: readonly fc.Arbitrary<Filter>[]): fc.Arbitrary<Filter> {
  const leaf = fc.oneof(...leaves);
  return fc.letrec<{ readonly tree: Filter }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      tie('tree').map(({ text: inner, passes }): Filter => ({
        text: `!(${inner})`,
        passes: (entry) => !passes(entry),
      })),
      joined('&&', tie('tree')),
      joined('||', tie('tree')),
    ),
  })).tree;
}

function joined(sign: '&&' | '||', tree: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.array(tree, { minLength: 2, maxLength: 3 }).map((all) => ({
    text: all.map((each) => `(${each.text})`).join(` ${sign} `),
    passes: (entry) =>
      sign === '&&' ? all.every((each) => each.passes(entry)) : all.some((each) => each.passes(entry)),
  }));
}

/** Follows `next_page_uri` to the end. */
async function listAll(gatehouse: Gatehouse, token: string, path: string, key: string): Promise<readonly Shown[]> {
  const entries: Shown[] = [];
  for (let uri: string | null = path; uri !== null;) {
    const { status, body, text: answer } = await gatehouse.get(uri, { token });
    assert.equal(status, 200, answer);
    entries.push(...body[key]);
    uri = body.next_page_uri;
  }
  return entries;
}

const seed = Number(process.env['TEST_SEED'] ?? (process.env['TEST_LONG'] === '1' ? Date.now() % 1e9 : 4711));
const numRuns = process.env['TEST_LONG'] === '1' ? 3_000 : 150;

onGatehousesInTurn('filters mean what they say', (g) => {
  const check = async (token: string, path: string, key: string, filter: fc.Arbitrary<Filter>) => {
    const entries = await listAll(g(), token, path, key);
    const property = fc.asyncProperty(
      filter,
      fc.integer({ min: 1, max: 20 }),
      async ({ text: given, passes }, limit) => {
        fc.pre(given.length <= 4_096);
        const query = `?limit=${limit}&filter=${encodeURIComponent(given)}`;
        const found = await listAll(g(), token, `${path}${query}`, key);
        const wanted = entries.filter(passes).map(({ id }) => id);
        assert.deepEqual(
          found.map(({ id }) => id),
          wanted,
          given,
        );
      },
    );
    await fc.assert(property, { numRuns, seed });
  };

  test('texts, times, lists and booleans, unset or not, in random filters', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const policies: string[] = [];
    for (let at = 0; at < 2; at++) policies.push((await g().create('/ip_policies', {}, { token })).id);
    for (const [at, description] of texts.entries()) {
      await g().create(
        '/api_keys',
        {
          description,
          metadata: texts[(at * 7) % texts.length],
          ...(at % 3 === 0 ? {} : { expires_at: times[at % times.length] }),
          ...(at % 2 === 0 ? { read_only: true } : {}),
          ip_policy_ids: policies.slice(0, at % 3),
        },
        { token },
      );
    }
    const leaves = [
      ...textConditions('description', ({ description }) => readable(description)),
      ...textConditions('metadata', ({ metadata }) => readable(metadata)),
      timeCondition,
      nullCondition('expires_at', ({ expires_at: at }) => at === undefined),
      booleanCondition,
      ...listConditions(policies),
    ];
    await check(token, '/api_keys', 'keys', filters(leaves));
  });

  test('maps in random filters', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const values = ['a', 'A', 'shop', 'ä', "it's"];
    for (let at = 1; at < 16; at++) {
      const some = keys.filter((_, place) => (at >> place) % 2 === 1);
      const labels = Object.fromEntries(some.map((key, place) => [key, values[(at + place) % values.length]]));
      await g().create('/backends/tunnel_group', { labels: at === 8 ? { other: 'x' } : labels }, { token });
    }
    await check(token, '/backends/tunnel_group', 'backends', filters(mapConditions));
  });
});
