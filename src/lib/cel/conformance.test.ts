import assert from 'node:assert/strict';
import { test } from 'node:test';

import { getConformanceSuite } from '@bufbuild/cel-spec/testdata/tests.js';

import { compile } from './compile.ts';
import type { Environment, Variable } from './environment.ts';
import { functions } from './functions/index.ts';
import { parseCel } from './parse.ts';
import { Budget, EvaluationFault, Frame } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import { any, typeOf } from './types.ts';
import { CelMap, equal, TypeName, Uint } from './values.ts';
import type { Value } from './values.ts';

type Suite = ReturnType<typeof getConformanceSuite>;
type Test = Suite['tests'][number]['original'];
type SpecValue = NonNullable<Extract<Test['resultMatcher'], { case: 'value' }>['value']>;

/** Parts of the suite whose subject is not offered: what they write must be refused, or still come out right. */
const notOffered =
  /^(?:block_ext|bindings_ext|dynamic|enums|macros2|math_ext|network_ext|optionals|proto2|proto2_ext|proto3|type_deductions|unknowns|wrappers)$/;
/** Functions whose names are words of the language. */
const reserved =
  /\.(?:as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)\(/;
/** Messages of protocol buffers, and names in backticks. */
const needsMessages = /TestAllTypes|google\.protobuf|`|\bproto\./;

/** Tests of parts that are offered which come out otherwise, each with its reason. */
const others: ReadonlyMap<string, string> = new Map([
  ['hello_without_padding', 'base64.decode() refuses missing padding, as the documentation of traffic policies says'],
  ['one_limit', 'split(x, n) keeps n parts and drops the rest, as the documentation of traffic policies says'],
  ['self_eval_container_lookup', 'containers are not offered'],
  ['self_eval_container_lookup_unchecked', 'containers are not offered'],
]);
const ofSpec = ({ kind }: SpecValue): Value | undefined => {
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'uint64Value':
      return new Uint(kind.value);
    case 'typeValue':
      return new TypeName(kind.value);
    case 'listValue':
      return kind.value.values.map((item) => ofSpec(item) ?? null);
    case 'mapValue':
      return new CelMap(
        kind.value.entries.flatMap(({ key, value }) =>
          key === undefined || value === undefined ? [] : [[ofSpec(key) ?? null, ofSpec(value) ?? null] as const],
        ),
      );
    case 'boolValue':
    case 'stringValue':
    case 'int64Value':
    case 'doubleValue':
    case 'bytesValue':
      return kind.value;
    default:
      return undefined;
  }
};

type Outcome = { readonly value: Value } | { readonly fault: string } | { readonly refused: string };

function evaluate(original: Test): Outcome {
  const variables = new Map<string, Variable<null>>();
  for (const [name, { kind }] of Object.entries(original.bindings)) {
    const value = kind.case === 'value' ? ofSpec(kind.value) : undefined;
    if (value !== undefined) variables.set(name, { type: any, get: () => value });
  }
  const environment: Environment<null> = { variables, free: new Map(), functions, notOffered: new Map() };
  try {
    const { run } = compile(parseCel(original.expr), environment);
    return { value: run(new Frame(null, new Budget(100_000))) };
  } catch (error) {
    if (error instanceof ExpressionFault) return { refused: error.message };
    if (error instanceof EvaluationFault) return { fault: error.message };
    throw error;
  }
}

const free = (): void => {};

function isRight(original: Test, outcome: Outcome): boolean {
  const { resultMatcher: wanted } = original;
  if (wanted.case === 'evalError' || wanted.case === 'anyEvalErrors') return !('value' in outcome);
  if (!('value' in outcome)) return false;
  const spec = wanted.case === 'typedResult' ? wanted.value.result : wanted.case === 'value' ? wanted.value : undefined;
  if (wanted.case === 'typedResult' && spec === undefined) return true;
  const value = spec === undefined ? true : ofSpec(spec);
  // A message as a result: a point in time or a length of it.
  if (value === undefined) return true;
  if (Number.isNaN(value)) return Number.isNaN(outcome.value);
  return equal(outcome.value, value, free) && typeOf(outcome.value) === typeOf(value);
}

const counts = { right: 0, refused: 0 };

function check(part: string, original: Test): void {
  const { name, expr } = original;
  const outcome = evaluate(original);
  const what = `${part}/${name}: ${expr} → ${JSON.stringify(outcome, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))}`;
  if (isRight(original, outcome)) {
    counts.right++;
    return;
  }
  // What is not offered is refused; it never comes out otherwise. Types are always checked here.
  const isRefused = notOffered.test(part) || needsMessages.test(expr) || original.disableCheck || reserved.test(expr);
  const takesMessages = Object.values(original.bindings).some(
    ({ kind }) => kind.case !== 'value' || ofSpec(kind.value) === undefined,
  );
  if ((isRefused && !('value' in outcome)) || takesMessages) counts.refused++;
  else assert.ok(others.has(name), what);
}

function walk({ name, suites, tests }: Suite, part: string): void {
  for (const inner of suites) walk(inner, part === '' ? inner.name : part);
  for (const each of tests) check(part === '' ? name : part, each.original);
}

test('expressions of the conformance suite come out as it says, or are refused', () => {
  walk(getConformanceSuite(), '');
  // None may disappear from those that are offered.
  assert.ok(counts.right >= 1343, `${counts.right} are right, ${counts.refused} are refused`);
});
