import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import { readerOf } from './reader-of.ts';
import type { Reader } from './reader-of.ts';

/** Bytes of a peer's part of a handshake. A hello and the usual chains of certificates take 2,000 to 8,000. */
const mostBytes = 16_384;
/** Bytes that are handed on at once while the handshake goes on, so that its end is not missed. */
const sliceBytes = 2_048;
/** Encrypted bytes that may wait for TLS. */
const waitingBytes = 65_536;

/**
 * Stands between a socket and TLS, and ends a handshake in which the peer sends more than any usual one. OpenSSL takes
 * 100 kB of certificates and checks each signature in one piece of work, also where the chain leads to no known authority:
 * with keys made for it that is half a second of the event loop.
 */
export class HandshakeGate extends Duplex {
  readonly socket: Socket;
  readonly #reader: Reader;
  #left = mostBytes;
  #isOver = false;
  #isStopped = false;
  #goOn: (() => void) | undefined;

  constructor(socket: Socket) {
    super({ readableHighWaterMark: waitingBytes, allowHalfOpen: socket.allowHalfOpen });
    this.socket = socket;
    this.#reader = readerOf(socket);
    socket.on('data', (bytes: Buffer) => {
      this.#take(bytes);
    });
    socket.on('end', () => this.push(null)).on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy()).on('drain', this.#onDrain);
    // Whoever has looked at its first bytes has paused it.
    socket.resume();
  }

  /** The handshake is over: all bytes go through. */
  open(): void {
    this.#isOver = true;
  }

  override pause(): this {
    this.#stop();
    return super.pause();
  }

  override resume(): this {
    this.#start();
    return super.resume();
  }

  override _read(): void {
    this.#start();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(bytes, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  #take(bytes: Buffer): void {
    let at = 0;
    while (!this.#isOver && at < bytes.length && !this.destroyed) {
      const slice = bytes.subarray(at, at + sliceBytes);
      this.#left -= slice.length;
      if (this.#left < 0) {
        this.destroy(new HandshakeTooLong());
        return;
      }
      at += slice.length;
      // TLS reads it at once, and calls `open` at the end of the handshake.
      this.push(slice);
    }
    if (at < bytes.length && !this.destroyed && !this.push(at === 0 ? bytes : bytes.subarray(at))) this.#stop();
  }

  #send(bytes: Buffer, done: () => void): void {
    if (this.socket.write(bytes)) done();
    else this.#goOn = done;
  }

  #start(): void {
    // Node starts the reading by itself, once the socket is connected.
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#reader.resume();
  }

  #stop(): void {
    if (this.socket.connecting) return;
    this.#isStopped = true;
    this.#reader.pause();
  }

  readonly #onDrain = (): void => {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  };
}

/** A peer sends more certificates than anybody needs. */
class HandshakeTooLong extends Error {
  override readonly name = 'HandshakeTooLong';
  readonly code = 'ERR_TLS_HANDSHAKE_TOO_LONG';

  constructor() {
    super(`the handshake takes more than ${mostBytes} bytes`);
  }
}

/** Starts TLS as a client through a gate, which opens when the certificate of the server is verified. */
export function connectThroughGate(tcp: Socket, options: ConnectionOptions): TLSSocket {
  const secure = connect({ ...options, socket: new HandshakeGate(tcp) });
  return secure.once('secureConnect', () => {
    openGate(secure);
  });
}

/** The socket that was given to a TLS server, itself or in a gate. Node has no public name for it. */
export function socketBelow(secure: TLSSocket): Socket | undefined {
  const below: unknown = Reflect.get(secure, '_parent');
  return below instanceof Socket ? below : gateOf(secure)?.socket;
}

/** Lets all bytes through once the handshake is over. */
export function openGate(secure: TLSSocket): void {
  const gate = gateOf(secure);
  if (gate === undefined) return;
  gate.open();
  // Above a stream, TLS does not know them.
  for (const name of ['localAddress', 'localPort', 'remoteAddress', 'remotePort'] as const)
    Object.defineProperty(secure, name, { value: gate.socket[name] });
}

/** Node puts a stream that is no socket into one of its own, below the handle. */
function gateOf(secure: TLSSocket): HandshakeGate | undefined {
  let found: unknown = secure;
  for (const name of ['_handle', '_parentWrap', 'stream'])
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
  return found instanceof HandshakeGate ? found : undefined;
}
