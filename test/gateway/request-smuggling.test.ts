import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { rounds } from '../support/long-form.ts';
import { awaitBytes, checkRecorded, converse, startRecordedGateway, statusesOf } from './support/recorded-gateway.ts';
import type { RecordedGateway, Step } from './support/recorded-gateway.ts';
import { smugglingForms } from './support/smuggling-corpus.ts';
import type { SmugglingForm } from './support/smuggling-corpus.ts';

/**
 * Sends every form of the corpus: whatever the gateway makes of it, the bytes that reach the upstream
 * must be well formed and hold only the requests that were meant.
 */

const plain = 'GET /before HTTP/1.1\r\nHost: app.test\r\n\r\n';
const last = 'GET /last HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n';

/** Length of the pieces of a form that comes in pieces. */
const pieceLength = rounds(5, 1);

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, at) =>
    text.slice(at * pieceLength, (at + 1) * pieceLength),
  );
}

const ways: Readonly<Record<string, (bytes: string) => readonly Step[]>> = {
  alone: (bytes) => [bytes, last],
  'after a plain request': (bytes) => [plain, awaitBytes, bytes, last],
  'in pieces': (bytes) => [...piecesOf(bytes), last],
  'in one write with other requests': (bytes) => [`${plain}${bytes}${last}`],
};

/** Bounds for a gateway that closes, which is slow on a busy machine, and for one that waits for more, which never ends. */
const closesMs = 120_000;
const waitsMs = 200;

async function check({ gateway, recorder }: RecordedGateway, form: SmugglingForm, way: string): Promise<void> {
  recorder.requests.length = 0;
  const waits = form.waits === true;
  const steps = ways[way]?.(form.bytes) ?? [];
  const conversation = await converse(gateway.port, steps, waits ? waitsMs : closesMs);
  assert.equal(conversation.closed, !waits, 'the gateway closes the connection');
  assert.deepEqual(recorder.faults.splice(0), []);
  for (const request of recorder.requests) {
    checkRecorded(request);
    assert.match(request.target, /^\/(?:before|form|last)$/);
    assert.match(request.body, /^(?:|abc|GET \/smuggled HTTP\/1\.1\r\n[^]*\r\n\r\n)$/);
  }
  const targets = recorder.requests.map(({ target }) => target);
  assert.deepEqual(targets.toSorted(), [...new Set(targets)].toSorted(), 'no request is carried out twice');
  if (way !== 'alone') return;
  assert.equal(statusesOf(conversation)[0] ?? 0, form.status);
  const reaches = [100, 200, 426].includes(form.status);
  if (form.status > 0) assert.equal(targets.includes('/form'), reaches);
}

suite('nothing is smuggled by', async () => {
  let recorded: RecordedGateway | undefined;
  before(async () => {
    recorded = await startRecordedGateway();
  });
  after(() => recorded?.[Symbol.asyncDispose]());
  for (const [kind, forms] of Object.entries(smugglingForms)) {
    for (const [name, form] of Object.entries(forms)) {
      test(`${kind}: ${name}`, async () => {
        assert.ok(recorded);
        for (const way of Object.keys(ways)) {
          try {
            await check(recorded, form, way);
          } catch (error) {
            throw new Error(`${way}: ${JSON.stringify(form.bytes)}`, { cause: error });
          }
        }
      });
    }
  }
});
