import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';

import { MalformedMessage } from '../../../src/gateway/https/framing/fields.ts';
import { ResponseParser } from '../../../src/gateway/https/upstream/response-parser.ts';
import { hopByHopHeaders, listTokens } from '../../../src/lib/http-syntax.ts';

/** The bytes of one connection, in the pieces in which they arrive before it ends. */
export interface Arrival {
  readonly to: Parameters<ResponseParser['begin']>[0];
  readonly pieces: readonly Buffer[];
}

export interface ReadHead {
  readonly status: number;
  readonly reason: string;
  /** Headers without those that belong to the connection or frame the body. */
  readonly headers: readonly string[];
}

/** Result of reading one connection. */
export interface Reading {
  readonly interims: ReadHead[];
  /** True if an interim response had `Connection: close`; only the gateway's reader sets it. */
  interimCloses: boolean;
  head: ReadHead | undefined;
  /** Body in Latin-1. */
  body: string;
  trailers: readonly string[];
  /** True if the response did not end with the connection and the reader would use the connection again. */
  reusable: boolean;
  /** After `upgraded`, the rest of the bytes is in `body`. */
  end: 'whole' | 'broken' | 'upgraded';
}

function emptyReading(): Reading {
  return {
    interims: [],
    interimCloses: false,
    head: undefined,
    body: '',
    trailers: [],
    reusable: false,
    end: 'broken',
  };
}

/** Reads with the gateway's parser, as `UpstreamConnection` does. */
export function readByGateway({ to, pieces }: Arrival): Reading {
  const reading = emptyReading();
  const parser = new ResponseParser();
  parser.begin(to, {
    onInterim: (head) => {
      reading.interims.push(plain(head));
      reading.interimCloses ||= !head.keepAlive;
    },
    onHead: (head) => (reading.head = plain(head)),
    onData: (chunk) => (reading.body += chunk.toString('latin1')),
    onEnd: (trailers) => Object.assign(reading, { trailers, end: 'whole' }),
    onUpgrade: (head, rest) =>
      Object.assign(reading, { head: plain(head), body: rest.toString('latin1'), end: 'upgraded' }),
  });
  let surplus = 0;
  try {
    for (const piece of pieces) {
      if (reading.end === 'upgraded') reading.body += piece.toString('latin1');
      else surplus += parser.push(piece);
    }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return reading;
  }
  reading.reusable = reading.end === 'whole' && surplus === 0 && parser.head?.keepAlive === true;
  parser.finish();
  return reading;
}

function plain({ status, reason, headers }: ReadHead): ReadHead {
  return { status, reason, headers };
}

/** A connection whose other side sends given pieces after the first write. */
class ScriptedSocket extends Duplex {
  readonly #pieces: readonly Buffer[];
  #asked = false;

  constructor(pieces: readonly Buffer[]) {
    super({ allowHalfOpen: false, highWaterMark: 1 << 20 });
    this.#pieces = pieces;
  }

  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
    if (this.#asked) return;
    this.#asked = true;
    void this.#answer();
  }

  async #answer(): Promise<void> {
    for (const piece of this.#pieces) {
      if (this.destroyed) return;
      this.push(piece);
      // Pieces pushed in one turn of the event loop may be read as one.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.push(null);
  }
}

/** An agent with keep-alive, to find out whether Node would use the connection again. */
class ScriptedAgent extends Agent {
  readonly #pieces: readonly Buffer[];

  constructor(pieces: readonly Buffer[]) {
    super({ keepAlive: true });
    this.#pieces = pieces;
  }

  override createConnection(): Duplex {
    return new ScriptedSocket(this.#pieces);
  }

  override keepSocketAlive(): boolean {
    return false;
  }
}

/** Reads with Node's own client. */
export async function readByNode({ to, pieces }: Arrival): Promise<Reading> {
  const reading = emptyReading();
  const asked = request({
    agent: new ScriptedAgent(pieces),
    method: to.method,
    maxHeaderSize: 1 << 20,
    headers: to.upgrade ? { Connection: 'Upgrade', Upgrade: 'other' } : { Connection: 'keep-alive' },
  });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  asked.on('information', ({ statusCode: status, statusMessage: reason, rawHeaders }) => {
    reading.interims.push({ status, reason, headers: endToEnd(rawHeaders) });
  });
  asked.on('response', (response) => {
    reading.head = headOf(response);
    reading.reusable = asked.shouldKeepAlive;
    response.on('data', (chunk: Buffer) => (reading.body += chunk.toString('latin1')));
    response.on('error', () => {});
    response.on('close', () => {
      if (response.complete) Object.assign(reading, { trailers: response.rawTrailers, end: 'whole' });
      resolve();
    });
  });
  asked.on('upgrade', (response, socket, rest) => {
    Object.assign(reading, { head: headOf(response), body: rest.toString('latin1'), end: 'upgraded' });
    socket.on('data', (chunk) => (reading.body += chunk.toString('latin1')));
    socket.on('close', resolve);
  });
  asked.on('error', () => {
    if (reading.head === undefined) resolve();
  });
  asked.end();
  await over;
  return reading;
}

function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): ReadHead {
  return { status: statusCode, reason: statusMessage, headers: endToEnd(rawHeaders) };
}

/** Returns the headers that a proxy forwards (RFC 9110, 7.6.1), without the length, which frames the body. */
function endToEnd(rawHeaders: readonly string[]): readonly string[] {
  const dropped = new Set(['content-length', ...hopByHopHeaders]);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'connection') continue;
    for (const name of listTokens(rawHeaders[at + 1] ?? '')) dropped.add(name);
  }
  return rawHeaders.filter((_, at) => !dropped.has((rawHeaders[at - (at % 2)] ?? '').toLowerCase()));
}
