import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isCelError, isCelList, isCelMap, isCelUint, run as runOracle } from '@bufbuild/cel';
import * as fc from 'fast-check';

import { isLong } from '../../../test/support/long-form.ts';
import { compile } from './compile.ts';
import type { Environment } from './environment.ts';
import { functions } from './functions/index.ts';
import { parseCel } from './parse.ts';
import { Budget, EvaluationFault, Frame } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import { any } from './types.ts';
import { asList, CelMap, Uint } from './values.ts';
import type { Value } from './values.ts';

const environment: Environment<null> = {
  variables: new Map([
    ['n', { type: any, get: () => 7n }],
    ['s', { type: any, get: () => 'héllo 😀 wörld' }],
    ['l', { type: any, get: () => ['a', 'b', 3n, 4.5, true] }],
    ['m', { type: any, get: () => CelMap.of({ a: 1n, b: 'two' }) }],
  ]),
  free: new Map(),
  functions,
  notOffered: new Map(),
};
const bindings = {
  n: 7n,
  s: 'héllo 😀 wörld',
  l: ['a', 'b', 3n, 4.5, true],
  m: new Map<string, string | bigint>([
    ['a', 1n],
    ['b', 'two'],
  ]),
};

function show(value: Value): string {
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof CelMap)
    return `{${Array.from(value.entries(), ([key, each]) => `${show(key)}: ${show(each)}`)
      .toSorted()
      .join()}}`;
  const items = asList(value);
  if (items !== undefined) return `[${items.map(show).join()}]`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  return typeof value === 'bigint' ? `${value}` : typeof value === 'number' ? `${value}f` : JSON.stringify(value);
}

function showOracle(value: unknown): string {
  if (isCelUint(value)) return `${value.value}u`;
  if (isCelList(value)) return `[${[...value].map(showOracle).join()}]`;
  if (isCelMap(value))
    return `{${Array.from(value.entries(), ([key, each]) => `${showOracle(key)}: ${showOracle(each)}`)
      .toSorted()
      .join()}}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  return typeof value === 'bigint' ? `${value}` : typeof value === 'number' ? `${value}f` : JSON.stringify(value);
}

function evaluate(text: string): string {
  try {
    return show(compile(parseCel(text), environment).run(new Frame(null, new Budget(50_000))));
  } catch (error) {
    if (error instanceof EvaluationFault || error instanceof ExpressionFault) return 'fault';
    throw error;
  }
}

function evaluateByOracle(text: string): string {
  try {
    const result = runOracle(text, bindings);
    return isCelError(result) ? 'fault' : showOracle(result);
  } catch {
    return 'fault';
  }
}

const leaf = fc.constantFrom(
  'n',
  's',
  'l',
  'm',
  '0',
  '1',
  '-3',
  '9223372036854775807',
  '2u',
  '1.5',
  '0.0',
  'true',
  'false',
  'null',
  '"a"',
  '"héllo"',
  '"😀"',
  '""',
  '[]',
  '[1, 2, 3]',
  '["a", "b"]',
  '{"a": 1}',
  '{1: true}',
  'b"ab"',
  'm.a',
  'm.c',
  'l[0]',
  'x',
);
const { tree } = fc.letrec<{ tree: string }>((tie) => {
  const inner = tie('tree');
  const pair = fc.tuple(inner, inner);
  return {
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc
        .tuple(
          inner,
          fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in'),
          inner,
        )
        .map(([a, o, b]) => `(${a} ${o} ${b})`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      inner.map((a) => `!(${a})`),
      inner.map((a) => `-(${a})`),
      inner.map((a) => `size(${a})`),
      fc.tuple(fc.constantFrom('int', 'uint', 'double', 'string', 'dyn'), inner).map(([f, a]) => `${f}(${a})`),
      fc
        .tuple(inner, fc.constantFrom('startsWith', 'endsWith', 'contains'), inner)
        .map(([a, f, b]) => `(${a}).${f}(${b})`),
      fc
        .tuple(inner, fc.constantFrom('all', 'exists', 'exists_one', 'filter', 'map'), inner)
        .map(([a, f, b]) => `(${a}).${f}(x, ${b})`),
      pair.map(([a, b]) => `(${a})[${b}]`),
      pair.map(([a, b]) => `[${a}, ${b}]`),
      pair.map(([a, b]) => `{"k": ${a}, "l": ${b}}`),
      inner.map((a) => `has((${a}).a)`),
    ),
  };
});

test('random expressions come out as by the oracle', () => {
  const met = { same: 0, faults: 0 };
  const property = fc.property(tree, (text) => {
    const own = evaluate(text);
    const other = evaluateByOracle(text);
    if (own === other) met.same++;
    // Types are checked before anything is run: what could only fail is refused, though a part of it would have been left out.
    else if (own === 'fault') met.faults++;
    else assert.equal(own, other, text);
  });
  fc.assert(property, { numRuns: isLong ? 200_000 : 500 });
  assert.ok(met.same > met.faults, JSON.stringify(met));
});
