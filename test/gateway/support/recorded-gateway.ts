import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { connectClient } from './https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  requestHeaders,
  toBackend,
} from './https-entries.ts';
import { startGateway } from './https-gateway.ts';
import type { TestGateway } from './https-gateway.ts';
import { startRecorder } from './request-recorder.ts';
import type { RecordedRequest, Recorder } from './request-recorder.ts';

/** A gateway with a recording upstream of its own: `/` is open, `/closed` lets nobody in, and `removed` headers never pass. */
export interface RecordedGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly recorder: Recorder;
}

const removed = ['x-internal', 'x-mixed_name'];

export async function startRecordedGateway(): Promise<RecordedGateway> {
  const recorder = await startRecorder();
  const open = { ...toBackend('b'), ...requestHeaders({ 'x-gateway': 'yes' }, removed) };
  const gateway = await startGateway([
    allowPolicy('nobody', '192.0.2.1/32'),
    backendEntry('b', recorder.port),
    edgeEntry(
      'e',
      ['app.test'],
      [prefixRoute('/', open), prefixRoute('/closed', { ...open, ...ipRestriction('nobody') })],
    ),
  ]);
  return {
    gateway,
    recorder,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
    },
  };
}

/** Bytes that a client writes in one go. */
export type Step = string | typeof awaitBytes;

/** A wait for the next bytes of the gateway. */
export const awaitBytes = Symbol('await bytes');

export interface Conversation {
  /** All bytes that the gateway sent, in Latin-1. */
  readonly text: string;
  /** True if the gateway closed the connection. */
  readonly closed: boolean;
}

/** Carries out the steps, then reads until the gateway closes, or has been silent for `patienceMs`. */
export async function converse(port: number, steps: readonly Step[], patienceMs: number): Promise<Conversation> {
  const socket = await connectClient(port);
  // Small pieces would otherwise wait for each other.
  socket.setNoDelay();
  let text = '';
  let wake = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => {}).on('close', () => wake());
  /** Waits for bytes or the end; false if neither comes in time, nor is under way in this process after a stall. */
  const more = (): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => void letThrough().then(() => resolve(false)), patienceMs);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  for (const step of steps) {
    if (socket.destroyed || socket.readableEnded) break;
    if (step === awaitBytes) {
      await more();
    } else {
      socket.write(step, 'latin1');
      // The next piece goes out in a record of its own, after the gateway had a turn.
      await nextTurn();
    }
  }
  while (!socket.closed && (await more()));
  const { closed } = socket;
  socket.destroy();
  await letThrough();
  return { text, closed };
}

/** Turns of the event loop that bytes take, at most, from a client through the gateway to the upstream and back. */
const turns = 30;

/** Client, gateway and upstream share one event loop: after these turns everything that was written has arrived. */
async function letThrough(): Promise<void> {
  for (let left = turns; left > 0; left--) await nextTurn();
}

export function statusesOf({ text }: Conversation): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}

/** Throws if a request should have been refused, or lacks what the gateway vouches for. */
export function checkRecorded(request: RecordedRequest): void {
  const { target, headers, trailers } = request;
  const seen = JSON.stringify(request);
  assert.doesNotMatch(target, /^\/closed(?:[/?;]|$)/, `protected route: ${seen}`);
  const folded = new Set(
    [...headers, ...trailers].map((name, at) => (at % 2 === 0 ? name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-') : '')),
  );
  for (const name of ['x-internal', 'x-mixed-name']) assert.ok(!folded.has(name), `removed header: ${seen}`);
  const values = (name: string) => headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
  assert.deepEqual(values('host'), ['app.test'], seen);
  assert.deepEqual(values('x-forwarded-for'), ['127.0.0.1'], seen);
  assert.ok(values('x-gateway').includes('yes'), seen);
}
