import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compile } from './compile.ts';
import type { Environment } from './environment.ts';
import { functions } from './functions/index.ts';
import { parseCel, parseEmbedded } from './parse.ts';
import { Budget, BudgetSpent, EvaluationFault, Frame } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import { any, bool, int, listOf, mapOf, objectOf, string } from './types.ts';
import { CelMap } from './values.ts';
import type { Value } from './values.ts';

const cookie = objectOf('cookie', { name: string, value: string });
const big = Array.from({ length: 50_000 }, (_, at) => BigInt(at));
const text = 'ab'.repeat(30_000);
const faces = '😀'.repeat(30_000);
const pairs = '&'.repeat(30_000);
const environment: Environment<null> = {
  variables: new Map([
    ['req.url', { type: string, get: () => 'https://a.example/x?y=1' }],
    ['req.url.path', { type: string, isSure: true, get: () => '/x' }],
    ['req.url.port', { type: int, get: () => undefined }],
    [
      'req.headers',
      {
        type: mapOf(string, listOf(string)),
        get: () => new CelMap([['x-a', ['1', '2']]], { ignoresCase: true, absent: [] }),
      },
    ],
    [
      'req.cookies',
      { type: mapOf(string, listOf(cookie)), get: () => new CelMap([['s', [CelMap.of({ name: 's', value: 'v' })]]]) },
    ],
    ['big', { type: listOf(int), get: () => big }],
    ['text', { type: string, get: () => text }],
    ['faces', { type: string, get: () => faces }],
    ['longer', { type: string, get: () => `${text.slice(1)}x` }],
    ['pairs', { type: string, get: () => pairs }],
  ]),
  free: new Map([['vars', (name) => ({ type: any, get: () => (name === 'set' ? 5n : undefined) })]]),
  functions,
  notOffered: new Map([['conn.geo', 'no database of places is there']]),
};

function evaluate(expression: string): Value {
  return compile(parseCel(expression), environment).run(new Frame(null, new Budget(50_000)));
}

function refusal(expression: string): ExpressionFault {
  try {
    compile(parseCel(expression), environment, bool);
  } catch (error) {
    if (error instanceof ExpressionFault) return error;
    throw error;
  }
  throw new Error(`${expression} was taken`);
}

const values: readonly (readonly [string, Value])[] = [
  ["req.url.startsWith('https') && req.url.path == '/x'", true],
  ["req.headers['X-A'][1]", '2'],
  ["req.headers['absent']", []],
  ["'X-A' in req.headers && !('absent' in req.headers)", true],
  ["'2' in req.headers['x-a']", true],
  ['has(req.url.port)', false],
  ['has(vars.set) && !has(vars.unset)', true],
  ["req.cookies['s'][0].value", 'v'],
  ["'a.b.c'.split('.', 1)[0]", 'a'],
  ["'a  b'.split()", ['a', 'b']],
  ["'abc'.charAt(3)", ''],
  ['[1, [2, [3]]].flatten()', [1n, 2n, [3n]]],
  ["'%b'.format([true])", '1'],
  ["'172.31.0.1'.isPrivateIp() && !'100.64.0.1'.isPrivateIp()", true],
  ["inCidrRange('10.1.2.3', '10.0.0.0/8') && !inCidrRanges('10.1.2.3', ['bad', '11.0.0.0/8'])", true],
  [
    "hash.md5('a') + ' ' + 'a'.crc32() + ' ' + 'a'.crc64() + ' ' + hash.xxhash64('a', 'hex')",
    '0cc175b9c0f1b6a831c399e269772661 e8b7be43 3420000000000000 d24ec4f1a98c6e5b',
  ],
  ["basic_auth.encode('u', 'p')", 'Basic dTpw'],
  ["'a=1&a=2&b=%20'.decodeQueryString()['a'].join('+')", '1+2'],
  ['\'{"a": [1]}\'.decodeJson().a[0] == 1', true],
  ["{'a': [1, 2]}.encodeJson()", '{"a":[1,2]}'],
  ["url.parse('https://h.example/p?q=1').host", 'h.example'],
  ["['b', 'a', 'b'].distinct().sort().join()", 'ab'],
  ["['bb', 'a'].sortBy(x, size(x))[0]", 'a'],
  ["{'a': 1, 'b': 2}.filter(k, k != 'a')", ['b']],
  ["timestamp('2026-01-31T23:30:00Z').getDate('+01:00')", 1n],
  ['rand.int(3, 3)', 3n],
  ['[1, 2].map(x, [10].map(y, x + y)[0])', [11n, 12n]],
  ['[1, 2, 3, 4].map(x, x % 2 == 0, x * 10)', [20n, 40n]],
  ["['\u{fffd}', '😀'].sort()", ['\u{fffd}', '😀']],
  ["inCidrRange('10.1.2.3', '10.1.2.3/32') && !inCidrRange('10.1.2.3', '10.1.2.3/33')", true],
  ["timestamp('1969-12-31T23:59:59.9995Z').getMilliseconds()", 999n],
];

for (const [expression, value] of values) {
  test(`${expression} comes out as documented`, () => {
    assert.deepEqual(evaluate(expression), value);
  });
}

const refused: readonly (readonly [string, number, RegExp])[] = [
  ["req.url.pth == '/x'", 9, /did you mean req\.url\.path/],
  ["req.url.path.startWith('/x')", 14, /did you mean startsWith/],
  ['req.url.path', 9, /must be a bool.*compare it/],
  ['req.url.path == 5', 14, /a string never equals a int; convert the text with int/],
  ["req.headers['x'].contains('y')", 18, /exists\(x/],
  ["req.headers['x'] == 'y'", 18, /with "in"|never equals/],
  ["req.cookies['s'][0].valu == ''", 21, /did you mean value/],
  ["conn.geo.country == 'DE'", 10, /conn\.geo\.country is not offered here: no database/],
  ["'a'.matches('(')", 5, /ends too early|not closed/],
  ["'a'.matches('(?=a)')", 5, /linear/],
  ["timestamp('yesterday') == timestamp(0)", 1, /no time in RFC 3339/],
  ["'x' in req.url.path", 5, /contains/],
  ['!req.headers', 6, /must be a bool/],
  ['vars == 1', 1, /vars\.name/],
  ['lists.range(1000).all(a, lists.range(1000).all(b, a == b))', 19, /too much work/],
  ['A{}', 2, /protocol buffers/],
];

for (const [expression, at, reason] of refused) {
  test(`${expression} is refused with its place and the cure`, () => {
    const fault = refusal(expression);
    assert.match(fault.message, reason);
    assert.equal(fault.at, at);
  });
}

test('an expression inside a text ends at its own brace', () => {
  const given = 'a ${{"}": "}"}["}"]} b';
  const { node, end } = parseEmbedded(given, 4);
  assert.equal(given.slice(end), '} b');
  assert.equal(compile(node, environment).run(new Frame(null, new Budget(1000))), '}');
  assert.throws(() => parseEmbedded('${req.url', 2), /no closing/);
});

const costly = [
  'big.exists(x, x/0 == 1)',
  "big.map(x, {'a': x}).distinct().size() == 0",
  'big.all(x, text.startsWith(text))',
  "text.matches('a.{400}[cd]')",
  "text.matches('((a*)*)*(b*)*$x')",
  "big.map(x, timestamp('2026-01-01T00:00:00Z'))",
  'big.map(x, text + text)',
  'big.map(x, big == big)',
  'big.map(x, text.reverse())',
  'big.map(x, text == (text + string(x)))',
  "big.map(x, '[1, 2, 3]'.decodeJson())",
  'text.crc64()',
  'lists.range(100).all(x, text != longer)',
  "big.filter(x, x in big || text.replace('a', text) == '')",
  // JavaScript compares a long text with another one at every place.
  "text.contains(text.substring(20000) + 'x')",
  "text.indexOf(text.substring(20000) + 'x')",
  "text.lastIndexOf(text.substring(20000) + 'x')",
  "text.split(text.substring(20000) + 'x')",
  "text.replace(text.substring(20000) + 'x', '')",
  `text.matches('${'ab'.repeat(900)}x')`,
  'faces.lower()',
  'faces.escapeUrl()',
  'faces.reverse()',
  "faces.split('')",
  "text.split('a')",
  'pairs.isQueryString()',
  'text.format([])',
  // Texts are compared from their beginning, and values with each of a list.
  'lists.range(100).all(x, text < longer)',
  'lists.range(4).all(x, [text, longer, text, longer].sort().size() > 0)',
  'lists.range(6).all(x, !(-1 in big))',
  "[big.slice(0, 5000).map(y, '')].all(l, lists.range(20).all(x, l.join('') == ''))",
  "size('%s'.format([lists.range(30).map(x, text)])) > 0",
  "[bytes(text)].all(b, size('%s'.format([lists.range(20).map(x, b)])) > 0)",
  '[bytes(text)].all(b, size(json.encode(lists.range(20).map(x, b))) > 0)',
  '[big.slice(0, 1000).map(x, timestamp(x))].all(l, lists.range(6).all(x, size(json.encode(l)) > 0))',
  'lists.range(9).all(x, !text.isJson())',
  'lists.range(9).all(x, text.isQueryString())',
  'lists.range(9).all(x, base64.decode(text).size() > 0)',
  "lists.range(20).all(x, text.crc32() != '')",
  "['https://' + faces.substring(0, 2000)].all(u, lists.range(5).all(x, !u.isURL() || true))",
  '[big.slice(0, 1000).map(x, {x: x})].all(l, lists.range(4).all(x, size(json.encode(l)) > 0))',
  "lists.range(20).all(x, string(bytes(text)) != '')",
];

test('equal values of a list are found among very many without comparing each with all', () => {
  assert.equal(evaluate('lists.range(5000).distinct().size()'), 5000n);
  for (const [expression, value] of [
    ['[1, 1.0, uint(1), 2, 2.5, 2.5].distinct().size()', 3n],
    ['[0.0/0.0, 0.0/0.0].distinct().size()', 2n],
    ["[true, 'true', 1, null, null].distinct().size()", 4n],
    ["[b'1', b'1', duration('1s'), duration('1s'), [1], [1.0]].distinct().size()", 3n],
  ] as const)
    assert.equal(evaluate(expression), value, expression);
});

test('a name that is longer than any is looked up without reading it', (t) => {
  const names = new CelMap([['a', 1n]], { ignoresCase: true });
  assert.deepEqual([names.get('A'), names.get('AA')], [1n, undefined]);
  const { mock } = t.mock.method(String.prototype, 'toLowerCase');
  assert.equal(names.get('A'.repeat(1_000_000)), undefined);
  assert.equal(mock.callCount(), 0);
});

test('characters are counted and cut as such, whatever pairs of JavaScript they are', () => {
  for (const [expression, value] of [
    ["'a😀b'.size()", 3n],
    ["'a😀b'.charAt(1)", '😀'],
    ["'a😀b'.charAt(3)", ''],
    ["'a😀b😀c'.substring(2)", 'b😀c'],
    ["'a😀b😀c'.substring(1, 4)", '😀b😀'],
    ["'😀b😀b'.indexOf('b', 2)", 3n],
    ["'😀b😀b'.lastIndexOf('b')", 3n],
    ["'😀b😀b'.lastIndexOf('b', 2)", 1n],
    ["'Éa'.lowerAscii() + 'éA'.lowerAscii() + 'aé'.upperAscii()", 'ÉaéaAé'],
    ["strings.quote('a' + '\\n' + '\\\\' + '\\t')", '"a\\n\\\\\\t"'],
  ] as const)
    assert.deepEqual(evaluate(expression), value, expression);
});

for (const expression of costly) {
  test(`${expression} is ended by the bound on work, whatever stands around it`, () => {
    assert.throws(() => evaluate(expression), BudgetSpent);
    assert.throws(() => evaluate(`[${expression}].exists(x, true) || true`), BudgetSpent);
  });
}

test('what an expression is said to cost includes all its parts: items, entries, conditions and either branch', () => {
  const unitsOf = (expression: string) => compile(parseCel(expression), environment).units;
  const dear = 'lists.range(100).all(x, x >= 0)';
  const units = unitsOf(dear);
  assert.ok(units >= 100);
  for (const around of ['[@]', '[1, @]', "{'a': @}", '@ ? 1 : 2', 'true ? @ : 1', 'true ? 1 : @', 'true && @', '!@'])
    assert.ok(unitsOf(around.replace('@', dear)) >= units, around);
});

test('a list that is made, and a map, cost more with each item', () => {
  const spentFor = (expression: string): number => {
    const budget = new Budget(50_000);
    compile(parseCel(expression), environment).run(new Frame(null, budget));
    return budget.spent;
  };
  const many = Array.from({ length: 400 }, (_, at) => at);
  // Half of at most fifty units is paid for any expression, whatever it does.
  const list = spentFor(`[${many.map(() => 'req.url.path').join()}]`) - spentFor('[req.url.path]');
  assert.ok(list >= 25 + 50, `${list} units for a list`);
  const map = spentFor(`{${many.map((at) => `${at}: req.url.path`).join()}}`) - spentFor('{0: req.url.path}');
  assert.ok(map >= 25 + 400, `${map} units for a map`);
});

test('what is missing is a fault, which another operand makes irrelevant', () => {
  assert.throws(() => evaluate('req.url.port > 1'), EvaluationFault);
  assert.equal(evaluate('req.url.port > 1 || true'), true);
  assert.equal(evaluate('[1, 0].exists(x, 1 / x == 1)'), true);
  assert.throws(() => evaluate('[2, 0].exists(x, 1 / x == 1)'), /zero/);
});

test('edges of numbers, queries, texts and digests', () => {
  assert.throws(() => evaluate('(-9223372036854775807 - 1) % -1 == 0'), EvaluationFault);
  assert.deepEqual(evaluate("'a=1&&b=2&'.decodeQueryString().size()"), 2n);
  assert.deepEqual(evaluate("'a=1+2'.decodeQueryString()['a'][0]"), '1 2');
  assert.deepEqual(
    evaluate("'aaa'.replace('a', 'b', 0) + 'aaa'.replace('a', 'b', 2) + 'a'.replace('a', 'b', -1)"),
    'aaabbab',
  );
  // 0xff is no text, and must not become one that another secret has too.
  assert.throws(() => evaluate("'/w=='.decodeBase64() == ''"), /no text/);
  assert.equal(evaluate("'/w=='.isJson() || base64.decode('/w==') == b'\\xff'"), true);
  // Figures of the reference implementation: lengths with rests of none, four and eight bytes.
  assert.deepEqual(evaluate("['', 'abcd', 'abcdefgh', 'abcdefghijkl'].map(x, x.xxhash64())"), [
    'ef46db3751d8e999',
    'de0327b0d25d92cc',
    '3ad351775b4634b7',
    '4b09b7d3a233d4b3',
  ]);
});

test('a part of a list ends with the list', () => {
  assert.deepEqual(evaluate('[1, 2].slice(1, 2)'), [2n]);
  assert.throws(() => evaluate('[1, 2].slice(1, 3)'), /out of range/);
});
