import { Duplex } from 'node:stream';
import type { DuplexOptions } from 'node:stream';

import { codes } from '../wire/frame.ts';
import type { MuxStream, StreamFault, StreamReceiver } from './mux-stream.ts';

/** A stream that broke off. */
class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
  readonly fault: StreamFault;

  constructor(fault: StreamFault) {
    super(
      `the stream was broken off by ${fault.by === 'session' ? 'the end of its session' : fault.by}, code ${fault.code}`,
    );
    this.fault = fault;
  }
}

/** A stream in the form that Node's own parts take. Those who can use a `MuxStream` itself save half of the work. */
export class StreamDuplex extends Duplex implements StreamReceiver {
  #stream: MuxStream | undefined;
  #unread = 0;
  #written: ((error?: Error | null) => void) | undefined;

  /** Call `attach` next. Pass `allowHalfOpen: false` where an end of the peer must end both directions. */
  constructor(options: Pick<DuplexOptions, 'allowHalfOpen'> = {}) {
    super({ ...options, emitClose: true });
  }

  attach(stream: MuxStream): this {
    this.#stream = stream;
    if (this.destroyed) stream.abandon();
    return this;
  }

  onBytes(bytes: Buffer): void {
    this.#unread += bytes.length;
    if (this.push(bytes)) this.#credit();
  }

  onEnd(): void {
    this.push(null);
  }

  onDrain(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  onClose(fault: StreamFault | undefined): void {
    if (fault !== undefined && !this.destroyed) this.destroy(new StreamBroken(fault));
  }

  override _read(): void {
    this.#credit();
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#stream?.write(bytes) === false) this.#written = done;
    else done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#stream?.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream?.abandon(error === null ? codes.cancelled : codes.internal);
    this.#written?.(error ?? new Error('the stream was destroyed'));
    done(error);
  }

  #credit(): void {
    const unread = this.#unread;
    this.#unread = 0;
    if (unread > 0) this.#stream?.credit(unread);
  }
}
