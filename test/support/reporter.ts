import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

import { readProcessorSeconds } from './processor-seconds.ts';

/** One line of the file of results. */
export type Result =
  | { readonly is: 'begun' | 'passed' | 'failed' | 'skipped'; readonly test: string }
  | { readonly is: 'failure' | 'unsteady'; readonly text: string }
  | { readonly is: 'file'; readonly name: string; readonly ms: number; readonly processorSeconds: number };

/** Characters of a reason that are shown. */
const maxReason = 1500;

/** A reporter of Node's test runner: the usual output without the counts, which are added up over all processes by means of the file that `TEST_RESULTS` names. */
// oxlint-disable-next-line no-default-export -- Node takes the default export of a reporter's file.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const file = process.env['TEST_RESULTS'] ?? '';
  for await (const text of Readable.from(shown(events, file)).compose(new spec())) yield String(text);
}

async function* shown(events: AsyncIterable<TestEvent>, file: string): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    for (const result of resultsOf(event)) appendFileSync(file, `${JSON.stringify(result)}\n`);
    if (event.type !== 'test:diagnostic' || event.data.nesting > 0 || !isCount(event.data.message)) yield event;
  }
}

function resultsOf({ type, data }: TestEvent): readonly Result[] {
  if (type === 'test:dequeue' && data.type === 'test') return [{ is: 'begun', test: placeOf(data) }];
  if (type === 'test:diagnostic' && data.message.includes('asynchronous activity after the test ended')) {
    return [{ is: 'failure', text: data.message }];
  }
  if (type !== 'test:pass' && type !== 'test:fail') return [];
  const results: Result[] = [];
  const isSuite = data.details.type === 'suite';
  if (isSuite && data.nesting === 0) {
    const { name, details } = data;
    results.push({ is: 'file', name, ms: details.duration_ms, processorSeconds: spentSeconds() });
  }
  if (type === 'test:pass') {
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    return isSuite ? results : [...results, { is: isSkipped ? 'skipped' : 'passed', test: placeOf(data) }];
  }
  const { error } = data.details;
  // A suite fails because a test of it did, which is told by itself.
  if (error.cause === undefined || error.message.includes('subtest')) return results;
  const text = `✖ ${placeOf(data)}\n${textOf(error.cause).slice(0, maxReason)}`;
  return [...results, { is: 'failed', test: placeOf(data) }, { is: 'failure', text }];
}

let spentBefore = 0;

/** Processor time since the file before; what its programs used counts once they have ended. */
function spentSeconds(): number {
  const { own, children } = readProcessorSeconds() ?? { own: 0, children: 0 };
  const spent = own + children - spentBefore;
  spentBefore += spent;
  return spent;
}

function placeOf({ file, line, name }: { readonly file?: string; readonly line?: number; readonly name: string }) {
  return `${relative('.', file ?? '')}:${line ?? 0} › ${name}`;
}

function isCount(message: string): boolean {
  return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(message);
}

/** What comes from a test may be anything. */
function textOf(cause: unknown): string {
  if (typeof cause === 'string') return cause;
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
}
