import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { rounds } from '../../../test/support/long-form.ts';
import { depthLimit, parseExpression } from './parse.ts';
import type { Node } from './tree.ts';
import { ExpressionFault } from './syntax-fault.ts';

/** An expression as text, with brackets around every node. */
function show(node: Node): string {
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value);
    case 'list':
      return `[${node.items.map(show).join(' ')}]`;
    case 'name':
      return node.name;
    case 'member':
      return `${show(node.of)}.${node.name}`;
    case 'call':
      return `${node.of === undefined ? '' : `${show(node.of)}.`}${node.name}(${node.items.map(show).join(' ')})`;
    case 'not':
      return `(! ${show(node.of)})`;
    case 'all':
    case 'any':
      return `(${node.kind} ${node.of.map(show).join(' ')})`;
    case 'in':
      return `(${show(node.left)} in ${show(node.right)})`;
    case 'map':
      return `{${node.entries.map(([key, value]) => `${show(key)}: ${show(value)}`).join(' ')}}`;
    case 'index':
      return `${show(node.of)}[${show(node.index)}]`;
    case 'negate':
      return `(- ${show(node.of)})`;
    case 'choice':
      return `(${show(node.condition)} ? ${show(node.yes)} : ${show(node.no)})`;
    default:
      return `(${show(node.left)} ${node.operator} ${show(node.right)})`;
  }
}

function faultOf(text: string): ExpressionFault {
  try {
    parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionFault) return error;
    throw error;
  }
  throw new Error(`${text} was taken`);
}

const understood: readonly (readonly [string, string])[] = [
  ['obj.id == "a"', '(obj.id == "a")'],
  ['a && b || c && !d', '(any (all a b) (all c (! d)))'],
  ['a || b || c', '(any a b c)'],
  ['!(a || b) && c', '(all (! (any a b)) c)'],
  ['!!a', '(! (! a))'],
  ['obj.x in ["a", \'b\', 3]', '(obj.x in ["a" "b" 3])'],
  ['"a" in obj.list', '("a" in obj.list)'],
  ['size(obj.x) >= -1.5e2', '(size(obj.x) >= -150)'],
  ['obj.x.contains("y")', 'obj.x.contains("y")'],
  ['timestamp(time.now).subtract("7d")<obj.t', '(timestamp(time.now).subtract("7d") < obj.t)'],
  ['obj.x != null && true', '(all (obj.x != null) true)'],
  [String.raw`"\"\\\n\u00e4\U0001F600\x41"`, JSON.stringify('"\\\nä😀A')],
  ['  ( ( a ) )  ', 'a'],
  ['x in []', '(x in [])'],
];

for (const [text, tree] of understood) {
  test(`${text} is read as ${tree}`, () => {
    assert.equal(show(parseExpression(text)), tree);
  });
}

const refused: readonly (readonly [string, number, RegExp])[] = [
  ['', 1, /empty/],
  ['   ', 1, /empty/],
  ['a ==', 5, /a value is expected, not the end/],
  ['a = b', 3, /"==" compares/],
  ['a & b', 3, /"&&" is and/],
  ['a == b == c', 8, /join them with "&&"/],
  ['a b', 3, /the end is expected, not "b"/],
  ['(a', 3, /"\)" is expected/],
  ['a)', 2, /the end is expected/],
  ['a[0]', 2, /index/],
  ['a ? b : c', 3, /choice/],
  ['a + b', 3, /arithmetic/],
  ['"abc', 1, /no closing "/],
  [String.raw`"\q"`, 2, /no escape/],
  [String.raw`"\u12"`, 2, /no escape/],
  [String.raw`"\U00110000"`, 2, /no escape/],
  [String.raw`"\u0000"`, 1, /NUL/],
  [String.raw`"\ud800"`, 1, /surrogate/],
  ['1e999', 1, /too large/],
  ['a.', 3, /a name is expected/],
  ['f(a b)', 5, /"," or "\)"/],
  ['a == ;', 6, /no meaning/],
];

for (const [text, at, reason] of refused) {
  test(`${JSON.stringify(text)} is refused, with the place and the reason`, () => {
    const fault = faultOf(text);
    assert.match(fault.message, reason);
    assert.equal(fault.at, at);
  });
}

test('nesting is bounded, and a long chain is not deep', () => {
  const nested = (levels: number) => `${'('.repeat(levels)}a${')'.repeat(levels)}`;
  assert.equal(show(parseExpression(nested(depthLimit))), 'a');
  assert.match(faultOf(nested(depthLimit + 1)).message, /nested deeper than 32/);
  assert.match(faultOf(`${'!'.repeat(100_000)}a`).message, /nested deeper/);
  assert.match(faultOf('['.repeat(100_000)).message, /nested deeper/);
  assert.match(faultOf('f('.repeat(100_000)).message, /nested deeper/);
  const chain = parseExpression(Array.from({ length: 10_000 }, () => 'a').join(' && '));
  assert.equal(chain.kind === 'all' ? chain.of.length : 0, 10_000);
});

test('any text is parsed, or refused with a place in it', () => {
  const pieces = fc.constantFrom(
    'obj',
    '.',
    'id',
    '(',
    ')',
    '[',
    ']',
    '"',
    "'",
    '\\',
    '==',
    '!',
    '&&',
    '||',
    'in',
    ' ',
    ',',
    '1',
    '-',
    'null',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((all) => all.join('')),
  );
  const property = fc.property(texts, (text) => {
    try {
      parseExpression(text);
    } catch (error) {
      assert.ok(error instanceof ExpressionFault, String(error));
      assert.ok(error.at >= 1 && error.at <= text.length + 1, `${error.at} is not in ${JSON.stringify(text)}`);
    }
  });
  fc.assert(property, { numRuns: rounds(600, 20_000) });
});
