import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** Characters of a reason that are shown. */
const maxReason = 1500;

/** A reporter of `node --test` that prints failed tests alone, each with its file and its reason. */
// oxlint-disable-next-line no-default-export -- Node takes the default export of a reporter's file.
export default async function* failures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue;
    const { error } = data.details;
    // A suite fails because a test of it did, which is told by itself.
    if (error.cause === undefined || error.message.includes('subtest')) continue;
    const cause: unknown = error.cause;
    yield `\n✖ ${relative('.', data.file ?? '')}:${data.line ?? 0} › ${data.name}\n${textOf(cause).slice(0, maxReason)}\n`;
  }
}

/** What comes from the process of a test may be anything: an error that cannot be copied arrives as an object without a prototype. */
function textOf(cause: unknown): string {
  if (typeof cause === 'string') return cause;
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
}
