import { codes, dataFrame, flags, resetFrame, windowBytes, windowIncrementFrame } from '../wire/frame.ts';
import type { FrameOutput } from './frame-output.ts';

/** Ends a stream before both sides have ended it in order. */
export interface StreamFault {
  readonly code: number;
  /** `session`: the connection that carries the stream is gone. */
  readonly by: 'us' | 'peer' | 'session';
}

/** The user of a stream. Calls come in the order in which things happened; none follows `onClose`. */
export interface StreamReceiver {
  /** Bytes came. The receiver must call `credit` once it has taken them: until then they count as unread. */
  onBytes(bytes: Buffer): void;
  /** The peer sends no more. */
  onEnd(): void;
  /** All that was written has left, after a `write` that returned false. */
  onDrain(): void;
  /** Without a fault, both sides have ended and everything has been credited. */
  onClose(fault: StreamFault | undefined): void;
}

/** The session, as its streams see it. */
export interface StreamPort {
  readonly output: FrameOutput;
  /** True while readers hold so much that the windows of slow ones must shrink. */
  readonly isPressed: boolean;
  /** True if the peer does not end a stream that is reset: see `MuxStream.abandon`. */
  readonly ignoresResets: boolean;
  /** Changes the memory that unread bytes of all streams hold. */
  charge(bytes: number): void;
  /** The stream has bytes that its window allows but that the socket does not take yet. */
  wait(stream: MuxStream): void;
  remove(stream: MuxStream): void;
  /** The stream has no user any more, but the peer still has it. */
  abandoned(stream: MuxStream): void;
}

/** Longest payload of a frame, so that streams take turns. */
const maxPayload = 32 * 1024;
/** Bytes that are credited at once; credits for each read would double the number of frames. */
const creditStep = 64 * 1024;
/** Memory that a piece of unread bytes takes beside the bytes. */
const pieceCost = 256;
/** Bytes of an abandoned stream that are taken and dropped, in the hope that it ends by itself. */
const maxDroppedBytes = 1024 * 1024;

/** One of the streams of a session: bytes in both directions, each with its own flow control and its own end. */
export class MuxStream {
  readonly id: number;
  readonly isRemote: boolean;
  readonly #port: StreamPort;
  #receiver: StreamReceiver;
  #closed = false;
  /** SYN until the first frame has left, then none. */
  #firstFlag: number;
  #sendWindow = windowBytes;
  #pending: Buffer[] = [];
  #needsDrain = false;
  #ending = false;
  #sentFin = false;
  #gotFin = false;
  /** Bytes that the peer may still send. With `#unread` and `#uncredited` it always makes up the whole window. */
  #receiveWindow = windowBytes;
  #unread = 0;
  #uncredited = 0;
  #unreadCost = 0;

  constructor(port: StreamPort, id: number, isRemote: boolean, receiver: StreamReceiver) {
    this.#port = port;
    this.id = id;
    this.isRemote = isRemote;
    this.#receiver = receiver;
    this.#firstFlag = isRemote ? 0 : flags.syn;
  }

  /** The one that takes over, for streams whose use shows in their first bytes. */
  set receiver(receiver: StreamReceiver) {
    this.#receiver = receiver;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Memory that its unread bytes hold. */
  get heldBytes(): number {
    return this.#unread + this.#unreadCost;
  }

  /** Takes all bytes. If it returns false, some wait, and the caller should write no more until `onDrain`. */
  write(bytes: Buffer): boolean {
    if (this.#closed || this.#ending || bytes.length === 0) return !this.#closed;
    this.#send(bytes);
    this.#needsDrain = this.#pending.length > 0;
    return !this.#needsDrain;
  }

  /** Ends our direction, after `last`. */
  end(last?: Buffer): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (last !== undefined && last.length > 0) this.#send(last);
    else if (this.#pending.length === 0) this.#sendFin();
  }

  /**
   * Gives both directions up. Agents written in Rust take a RST as a reason to write no more, but go on reading: the
   * program behind them would never learn that its client is gone, and the stream would count against their limit for
   * ever, while nobody here knew of it. So they are sent an end, and the stream stays open, unused, until they end it too.
   */
  abandon(code: number = codes.cancelled): void {
    if (this.#receiver instanceof DroppedBytes) return;
    const isKnownToPeer = this.#firstFlag === 0 && !(this.#sentFin && this.#gotFin);
    if (this.#closed || !this.#port.ignoresResets || !isKnownToPeer) {
      this.reset(code);
      return;
    }
    const receiver = this.#receiver;
    this.#receiver = new DroppedBytes(this);
    this.#pending = [];
    this.#needsDrain = false;
    this.#port.abandoned(this);
    if (!this.#sentFin) this.#sendFin();
    this.#ending = true;
    this.credit(this.#unread);
    receiver.onClose({ code, by: 'us' });
  }

  /** Resets a stream whose other end may wait for a credit: it looks at the reset only when it writes. */
  resetWriter(code: number): void {
    if (this.#closed) return;
    this.reset(code);
    this.#port.output.control(windowIncrementFrame(this.id, 1));
  }

  /** Breaks both directions off. */
  reset(code: number = codes.cancelled): void {
    if (this.#closed) return;
    const isKnownToPeer = this.#firstFlag === 0 && !(this.#sentFin && this.#gotFin);
    if (isKnownToPeer) this.#port.output.control(resetFrame(this.id, code));
    this.#close({ code, by: 'us' });
  }

  /** The receiver has taken this many of the bytes it got. */
  credit(bytes: number): void {
    const taken = Math.min(bytes, this.#unread);
    if (taken === 0 || this.#closed) return;
    const cost = Math.ceil((this.#unreadCost * taken) / this.#unread);
    this.#unread -= taken;
    this.#unreadCost -= cost;
    this.#port.charge(-(taken + cost));
    this.#uncredited += taken;
    if (this.#gotFin) this.#closeIfOver();
    else this.#grant();
  }

  /** For the session: sends bytes that waited. Returns true if there are more that could leave. */
  pump(): boolean {
    const [first] = this.#pending;
    if (first !== undefined) {
      this.#pending.shift();
      const sent = this.#sendFrame(first);
      if (sent < first.length) this.#pending.unshift(first.subarray(sent));
    }
    if (this.#pending.length > 0) return this.#sendWindow > 0;
    if (this.#needsDrain && !this.#closed) {
      this.#needsDrain = false;
      this.#receiver.onDrain();
    }
    return false;
  }

  /** For the session: a piece of DATA came. */
  receive(bytes: Buffer, isEnd: boolean): void {
    const { length } = bytes;
    if (this.#gotFin) {
      // Some agents send FIN several times.
      if (length > 0) this.reset(codes.streamClosed);
      return;
    }
    if (length > this.#receiveWindow) {
      this.reset(codes.flowControl);
      return;
    }
    if (length > 0) this.#deliver(bytes);
    if (!isEnd || this.#closed) return;
    this.#gotFin = true;
    this.#receiver.onEnd();
    this.#closeIfOver();
  }

  /** For the session: the peer credits bytes. */
  credited(bytes: number): void {
    const wasStopped = this.#sendWindow === 0;
    this.#sendWindow = Math.min(windowBytes, this.#sendWindow + bytes);
    if (wasStopped && this.#pending.length > 0) this.#port.wait(this);
  }

  /** For the session: the stream is over, and no frame of it may be sent. */
  broken(code: number, by: 'peer' | 'session'): void {
    if (!this.#closed) this.#close({ code, by });
  }

  #deliver(bytes: Buffer): void {
    const { length } = bytes;
    // A small piece must not hold the memory of a whole read while it waits.
    const isCopied = this.#unread > 0 && length * 4 < bytes.buffer.byteLength;
    this.#receiveWindow -= length;
    this.#unread += length;
    this.#unreadCost += pieceCost;
    this.#port.charge(length + pieceCost);
    this.#receiver.onBytes(isCopied ? copyOf(bytes) : bytes);
  }

  #grant(): void {
    if (this.#uncredited < creditStep) return;
    const { isPressed, output } = this.#port;
    if (isPressed && this.#receiveWindow >= creditStep) return;
    const granted = isPressed ? creditStep : this.#uncredited;
    this.#uncredited -= granted;
    this.#receiveWindow += granted;
    output.control(windowIncrementFrame(this.id, granted));
  }

  #send(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && this.#pending.length === 0 && this.#sendWindow > 0 && this.#port.output.isReady) {
      rest = rest.subarray(this.#sendFrame(rest));
    }
    if (rest.length === 0) return;
    this.#pending.push(rest);
    if (this.#sendWindow > 0) this.#port.wait(this);
  }

  /** Sends what one frame and the window allow, with FIN if nothing is left, and returns how much that was. */
  #sendFrame(bytes: Buffer): number {
    const count = Math.min(bytes.length, this.#sendWindow, maxPayload);
    const isLast = this.#ending && count === bytes.length && this.#pending.length === 0;
    const flag = this.#firstFlag | (isLast ? flags.fin : 0);
    this.#firstFlag = 0;
    this.#sendWindow -= count;
    this.#port.output.data(dataFrame(this.id, flag, count === bytes.length ? bytes : bytes.subarray(0, count)));
    if (isLast) this.#finSent();
    return count;
  }

  #sendFin(): void {
    this.#port.output.data(dataFrame(this.id, flags.fin | this.#firstFlag, Buffer.alloc(0)));
    this.#firstFlag = 0;
    this.#finSent();
  }

  #finSent(): void {
    this.#sentFin = true;
    this.#closeIfOver();
  }

  #closeIfOver(): void {
    if (this.#sentFin && this.#gotFin && this.#unread === 0 && !this.#closed) this.#close(undefined);
  }

  #close(fault: StreamFault | undefined): void {
    this.#closed = true;
    this.#pending = [];
    this.#port.charge(-this.heldBytes);
    this.#unread = 0;
    this.#unreadCost = 0;
    this.#port.remove(this);
    this.#receiver.onClose(fault);
  }
}

/** Takes what still comes for a stream that nobody uses, up to a bound. */
class DroppedBytes implements StreamReceiver {
  readonly #stream: MuxStream;
  #dropped = 0;

  constructor(stream: MuxStream) {
    this.#stream = stream;
  }

  onBytes(bytes: Buffer): void {
    this.#dropped += bytes.length;
    if (this.#dropped > maxDroppedBytes) this.#stream.resetWriter(codes.cancelled);
    else this.#stream.credit(bytes.length);
  }

  onEnd(): void {}

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {}
}

/** Copies into memory of its own: a pool would be held as a whole. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
