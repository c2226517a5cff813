import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

import type { SourceKey } from '../../lib/ip/source-key.ts';
import { PieceJoiner } from '../turns/piece-joiner.ts';
import { ReadShare } from '../turns/read-share.ts';
import { closeSoon } from '../upstream/close-soon.ts';
import { binaryHeader, closeCode, closeFrame, pongFrame, WebsocketFault, WebsocketReader } from './websocket-frames.ts';

/** Bytes that may wait for a client before its pings are not answered any more. */
const pongLimit = 65_536;

/** The bytes inside the messages of a WebSocket, both ways. The socket must have been upgraded. */
export class WebsocketStream extends Duplex {
  readonly #socket: Socket;
  readonly #reader = new WebsocketReader();
  /** Records of TLS may hold a byte each: those of a turn are read as one piece. */
  readonly #pieces = new PieceJoiner((bytes, written) => {
    this.receive(bytes);
    written();
  });
  readonly #share: ReadShare;
  readonly #idleMs: number;
  /** True once a close was sent, after which nothing may follow. */
  #isClosing = false;
  #isReadOver = false;

  /** `owner` is the source of the client, who has `idleMs` to read on once all was written. */
  constructor(socket: Socket, owner: SourceKey, idleMs: number) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#idleMs = idleMs;
    this.#share = new ReadShare(socket, owner);
    socket.on('data', (chunk: Buffer) => {
      this.#share.count(chunk.length);
      this.#pieces.push(chunk);
    });
    socket.resume();
    socket.on('end', () => {
      this.#pieces.flush();
      this.#stopReading(undefined);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#share.end();
      this.#pieces.flush();
      this.#stopReading(undefined);
      this.#destroyIfOver();
    });
    this.on('end', () => {
      this.#destroyIfOver();
    });
  }

  /** Takes bytes of the socket. */
  receive(chunk: Buffer): void {
    if (this.#isReadOver || chunk.length === 0) return;
    // Answers to many pings are one write.
    this.#socket.cork();
    try {
      for (const event of this.#reader.read(chunk)) {
        if (event.kind === 'data') this.#pushData(event.bytes);
        else if (event.kind === 'close') this.#stopReading(event.code);
        else if (!this.#isClosing && this.#socket.writableLength < pongLimit)
          this.#socket.write(pongFrame(event.payload));
      }
    } catch (error) {
      if (!(error instanceof WebsocketFault)) throw error;
      this.#stopReading(closeCode.protocolError);
    } finally {
      this.#socket.uncork();
    }
  }

  override _read(): void {
    this.#share.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isClosing || this.#socket.destroyed) {
      done();
      return;
    }
    this.#socket.cork();
    this.#socket.write(binaryHeader(chunk.length));
    const takesMore = this.#socket.write(chunk);
    this.#socket.uncork();
    if (takesMore) done();
    else this.#afterDrain(done);
  }

  /** The program has ended: WebSockets have no half-close, so that the client is asked to close. */
  override _final(done: () => void): void {
    this.#close(closeCode.normal);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#socket.writableEnded) closeSoon(this.#socket, this.#idleMs);
    else this.#socket.destroy();
    done(error);
  }

  #pushData(bytes: Buffer): void {
    if (!this.#isReadOver && !this.push(bytes)) this.#share.pause();
  }

  /** The client sends nothing more: it gets a close if it has sent one, or has broken the rules. */
  #stopReading(code: number | undefined): void {
    if (this.#isReadOver) return;
    this.#isReadOver = true;
    this.push(null);
    if (code === undefined) this.#isClosing = true;
    else this.#close(code);
    this.#socket.end();
    // The end of the socket must be seen.
    this.#share.end();
  }

  #close(code: number): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#socket.writable) this.#socket.write(closeFrame(code));
  }

  #afterDrain(done: () => void): void {
    const go = (): void => {
      this.#socket.off('drain', go).off('close', go);
      done();
    };
    this.#socket.on('drain', go).on('close', go);
  }

  #destroyIfOver(): void {
    if (this.readableEnded && this.#socket.closed) this.destroy();
  }
}
