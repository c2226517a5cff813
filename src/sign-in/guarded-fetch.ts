import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of an answer, unless the caller sets another limit: metadata, keys and tokens of providers are a few thousand. */
const answerLimit = 65_536;
/** Bytes beside the body: heads, with those of interim answers, and frames of chunks. */
const headLimit = 65_536;
/** Parts in which an answer may come: each costs as much as many bytes. */
const partLimit = 2_000;
/** Statuses of answers that have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

interface Target {
  readonly id: string;
  readonly accountId: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** Starts a connection. `established` is called when bytes can go out: with TLS not before the certificate is verified. */
export type Connect = (target: Target, options: Readonly<Record<string, never>>, established: () => void) => Socket;

interface FetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
  /** Longer answers are refused. */
  readonly maxBytes?: number;
  /** True: the status alone counts, and no body is read. */
  readonly ignoresBody?: boolean;
}

/** The answer has more bytes than were asked for. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

export type Fetch = (url: string, options: FetchOptions) => Promise<Response>;

/** Asks on behalf of an account. */
export type FetchFor = (accountId: string) => Fetch;

/**
 * Asks other servers over connections of the caller, who decides where they may lead and by which authorities certificates
 * are verified. Redirects are not followed. `id` says what asks.
 */
export function createFetch(connect: Connect, id = 'sign-in'): FetchFor {
  return (accountId) =>
    async (address, { method, headers, body, signal, maxBytes = answerLimit, ignoresBody = false }) => {
      signal?.throwIfAborted();
      const url = new URL(address);
      const tls = url.protocol === 'https:';
      const host = url.hostname.replaceAll(/^\[|\]$/g, '');
      const target = { id, accountId, host, port: Number(url.port) || (tls ? 443 : 80), tls };
      // The libraries send forms alone.
      const sent =
        body instanceof URLSearchParams || typeof body === 'string' ? Buffer.from(body.toString()) : undefined;
      const socket = await open(connect, target, signal ?? undefined);
      try {
        const { promise, resolve, reject } = Promise.withResolvers<Response>();
        const asked = request({
          method,
          host,
          path: `${url.pathname}${url.search}`,
          headers: { ...headers, host: url.host, connection: 'close', ...(sent && { 'content-length': sent.length }) },
          ...(signal && { signal }),
          createConnection: () => socket,
        });
        // Node reads from then on: a listener that came earlier would lose what is there already.
        asked.once('socket', () => boundRead(socket, maxBytes, reject));
        // An answer that changes the protocol is none, and the request says nothing of it.
        const onClose = () => reject(new Error('the connection was closed before an answer'));
        socket.once('close', onClose);
        asked.on('response', (answer) => {
          socket.off('close', onClose);
          void readAnswer(answer, ignoresBody ? undefined : maxBytes).then(resolve, reject);
        });
        asked.on('error', reject).end(sent);
        return await promise;
      } finally {
        // Node waits for a server that answers without reading what it was sent.
        socket.destroy();
      }
    };
}

function open(connect: Connect, target: Target, signal: AbortSignal | undefined): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(target, {}, () => {
    resolve(socket);
  });
  const stop = () => socket.destroy(new Error('no connection in time'));
  socket.on('error', reject).once('close', () => {
    signal?.removeEventListener('abort', stop);
    reject(new Error('the connection was closed'));
  });
  signal?.addEventListener('abort', stop);
  return promise;
}

/** Counts all that comes before and beside the body too, which Node's client reads for as long as it comes. */
function boundRead(socket: Socket, maxBytes: number, refuse: (error: Error) => void): void {
  let bytesLeft = maxBytes + headLimit;
  let partsLeft = partLimit;
  socket.on('data', (bytes: Buffer) => {
    bytesLeft -= bytes.length;
    partsLeft -= 1;
    if (bytesLeft < 0 || partsLeft < 0) refuse(new AnswerTooLarge('the answer is too long'));
  });
}

/** Without a bound, no body is read. */
async function readAnswer(answer: IncomingMessage, maxBytes: number | undefined): Promise<Response> {
  const { statusCode: status = 0 } = answer;
  if (status < 200 || status > 599) throw new Error(`it answers with the status ${status}, which HTTP does not have`);
  const bytes = maxBytes === undefined ? null : await readAll(answer, maxBytes);
  const fields = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(bodiless.has(status) ? null : bytes, { status, headers: fields });
}

async function readAll(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  answer.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes || chunks.length > partLimit) answer.destroy(new AnswerTooLarge('the answer is too long'));
  });
  answer.once('end', () => resolve(undefined)).once('error', reject);
  answer.once('close', () => reject(new Error('the connection was closed before the end of the answer')));
  await promise;
  return new Uint8Array(Buffer.concat(chunks));
}
