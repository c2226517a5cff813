import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exitCodes, toExit } from '../../src/agent-client/exit.ts';
import { isPassing, Refused } from '../../src/agent-client/refusals.ts';
import { agentVariables } from '../../src/config/agent-variables.ts';
import { readRootFile } from './support/source-files.ts';

const page = readRootFile('docs/agents.md');

/** Rows of the table of exit codes, each with the numbers of the errors that lead to it. */
function documentedCodes(): ReadonlyMap<number, readonly number[]> {
  const [, table = ''] = page.split('| exit code | meaning |\n');
  const rows = [...(table.split('\n\n', 1)[0] ?? '').matchAll(/^\| (\d+) \| ([^|]*) \|$/gm)];
  return new Map(
    rows.map(([, code, meaning = '']) => {
      const list = /\(((?:\d+(?:, | to )?)+)\)/.exec(meaning)?.[1] ?? '';
      return [Number(code), list.split(', ').flatMap(readNumbers)];
    }),
  );
}

/** Reads `5` or `5 to 7`. */
function readNumbers(text: string): readonly number[] {
  const [first = NaN, last = first] = text.split(' to ').map(Number);
  return text === '' ? [] : Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

test('the exit codes of the agent are those of its page', () => {
  const usage = 1;
  const documented = documentedCodes();
  assert.deepEqual(new Set(documented.keys()), new Set<number>([usage, ...Object.values(exitCodes)]));
  const refused = [...documented].flatMap(([code, numbers]) => numbers.map((number) => [number, code] as const));
  assert.ok(refused.length >= 15, `found only ${refused.length} numbers`);
  for (const [number, code] of refused) {
    assert.equal(toExit({ kind: 'refused', refusal: new Refused('', number) }).code, code, String(number));
  }
});

test('every error that ends the agent with a code of its own, or that it waits for, is one of the service', () => {
  const errors = new Set(
    [...readRootFile('docs/errors.md').matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)),
  );
  const known = Array.from({ length: 30_000 }, (_, number) => new Refused('', number)).filter(
    (refusal) => toExit({ kind: 'refused', refusal }).code !== exitCodes.other || isPassing(refusal, true),
  );
  assert.ok(known.length >= 15);
  assert.deepEqual(
    known.map(({ code }) => code).filter((code) => !errors.has(code ?? 0)),
    [],
  );
});

test('the page names every variable of the agent', () => {
  for (const variable of Object.values(agentVariables)) assert.ok(page.includes(variable), variable);
});
