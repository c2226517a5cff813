import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';

import { formatRequest, HttpConnection } from '../support/http-connection.ts';
import type { Noticed, VisitOrder } from '../support/entrances/messages.ts';

/**
 * Visits as neighbours do, by a `VisitOrder`: another edge with a new TLS connection each time, and the API on a kept one.
 * Visits are due at a fixed rate, whether or not those before have been answered.
 */
const edgeEveryMs = 25;
const apiEveryMs = 25;
/** Time after the last visit until which answers are waited for. */
const patienceMs = 2000;
const maxOpen = 100;

process.on('disconnect', () => process.exit());
process.on('message', (order: VisitOrder) => void run(order).then((noticed) => process.send?.(noticed)));

async function run({ edge, api, seconds }: VisitOrder): Promise<Noticed> {
  const ended = AbortSignal.timeout(seconds * 1000 + patienceMs);
  const [edgeMs, apiMs] = await Promise.all([
    atRate(edgeEveryMs, seconds, ended, (signal) => visitEdge(edge, signal)),
    api === undefined ? [] : visitApi(api, seconds, ended),
  ]);
  return { edgeMs, apiMs };
}

async function visitApi(
  { port, path, headers }: NonNullable<VisitOrder['api']>,
  seconds: number,
  ended: AbortSignal,
): Promise<readonly number[]> {
  const connection = await HttpConnection.open({ port });
  const request = formatRequest('GET', path, { Host: 'localhost', ...headers });
  let last: Promise<unknown> = Promise.resolve();
  const times = await atRate(apiEveryMs, seconds, ended, (signal) => {
    const next = last.then(async () => {
      const { status } = await connection.send(request);
      if (status !== 200) throw new Error(`the API answered ${status}`);
    });
    last = next;
    return Promise.race([next, aborted(signal)]);
  });
  connection.close();
  return times;
}

/** Returns how long each visit took, from when it was due. */
async function atRate(
  everyMs: number,
  seconds: number,
  ended: AbortSignal,
  visit: (signal: AbortSignal) => Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = [];
  const open = new Set<Promise<void>>();
  const startMs = performance.now();
  for (let dueMs = startMs; dueMs < startMs + seconds * 1000; dueMs += everyMs) {
    await sleep(Math.max(0, dueMs - performance.now()));
    if (open.size >= maxOpen) continue;
    const done = visit(ended).then(
      () => void times.push(performance.now() - dueMs),
      (error: unknown) => {
        if (!ended.aborted) process.stderr.write(`${String(error)}\n`);
        times.push(performance.now() - dueMs);
      },
    );
    open.add(done);
    void done.then(() => open.delete(done));
  }
  await Promise.all(open);
  return times;
}

function visitEdge({ port, host }: VisitOrder['edge'], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: host,
    // The certificate is one of the benchmark's own.
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
  const leave = (): void => void socket.destroy();
  signal.addEventListener('abort', leave, { once: true });
  socket
    .once('secureConnect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
    .once('data', (bytes: Buffer) => {
      const line = bytes.toString('latin1', 0, 12);
      if (line === 'HTTP/1.1 200') resolve();
      else reject(new Error(`an edge answered ${line}`));
      socket.destroy();
    })
    .once('error', reject)
    .once('close', () => reject(new Error('an edge closed the connection')));
  return promise.finally(() => {
    signal.removeEventListener('abort', leave);
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true });
  });
}
