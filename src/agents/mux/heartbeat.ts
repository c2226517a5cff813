import { setTimeout as sleep } from 'node:timers/promises';

import { fillRandom } from '../../lib/random-pool.ts';
import { codes } from '../wire/frame.ts';
import { streamTypes, typedStart } from '../wire/stream-types.ts';
import type { MuxSession } from './mux-session.ts';
import type { MuxStream, StreamFault, StreamReceiver } from './mux-stream.ts';

const beatBytes = 4;
/** After a pause of this process, bytes that have come meanwhile are read before a peer is called silent. */
const secondLookMs = 100;
/** How often it is looked whether an answer has come. */
const lookMs = 20;

export interface HeartbeatTimes {
  readonly intervalMs: number;
  /** Longest time without any byte of the peer. */
  readonly silenceMs: number;
}

/**
 * Asks the peer for a sign of life again and again, and closes the session when none comes. Every byte counts as one:
 * an agent that is busy with a slow upstream may answer late, but its other frames still come.
 */
export class Heartbeat implements StreamReceiver {
  readonly #mux: MuxSession;
  readonly #times: HeartbeatTimes;
  #stream: MuxStream | undefined;
  /** True after the peer has closed the stream; its other frames must do then. */
  #isRefused = false;
  #timer: NodeJS.Timeout;
  #nextBeatMs: number;
  #suspected = false;

  constructor(mux: MuxSession, times: HeartbeatTimes) {
    this.#mux = mux;
    this.#times = times;
    this.#nextBeatMs = performance.now() + times.intervalMs;
    this.#timer = this.#schedule();
  }

  /** True if it has a stream, from its first beat on. */
  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Asks at once. Resolves with true at the next byte of the peer, with false if none comes in time. */
  async ask(limitMs: number): Promise<boolean> {
    // Nobody can tell then; the times above still hold.
    if (this.#isRefused) return this.#mux.isOpen;
    const askedMs = performance.now();
    this.#beat();
    while (this.#mux.isOpen && this.#mux.heardMs < askedMs) {
      if (performance.now() - askedMs > limitMs) return false;
      await sleep(lookMs);
    }
    return this.#mux.isOpen;
  }

  onBytes(bytes: Buffer): void {
    this.#stream?.credit(bytes.length);
  }

  onEnd(): void {}

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {
    this.#stream = undefined;
    this.#isRefused = true;
  }

  #schedule(): NodeJS.Timeout {
    const dueMs = Math.min(this.#nextBeatMs, this.#mux.heardMs + this.#times.silenceMs);
    const waitMs = this.#suspected ? secondLookMs : Math.max(0, dueMs - performance.now());
    return setTimeout(() => {
      this.#look();
    }, waitMs + 1);
  }

  #look(): void {
    const nowMs = performance.now();
    const isSilent = nowMs - this.#mux.heardMs >= this.#times.silenceMs;
    if (isSilent && this.#suspected) {
      this.#mux.close(codes.writeTimeout, 'no sign of life');
      return;
    }
    this.#suspected = isSilent;
    if (nowMs >= this.#nextBeatMs) {
      this.#nextBeatMs = nowMs + this.#times.intervalMs;
      this.#beat();
    }
    this.#timer = this.#schedule();
  }

  #beat(): void {
    if (this.#isRefused) return;
    // The type of the stream goes alone, because some agents read what follows by the frame.
    this.#stream ??= this.#mux.open(this, typedStart(streamTypes.heartbeat));
    const beat = Buffer.allocUnsafe(beatBytes);
    fillRandom(beat);
    this.#stream?.write(beat);
  }
}

/** Answers the heartbeats of a peer with the same bytes. */
export class HeartbeatEcho implements StreamReceiver {
  readonly #stream: MuxStream;
  #held = Buffer.alloc(0);
  #isBlocked = false;

  constructor(stream: MuxStream) {
    this.#stream = stream;
  }

  onBytes(bytes: Buffer): void {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const whole = all.length - (all.length % beatBytes);
    this.#held = Buffer.from(all.subarray(whole));
    // Beats that the peer does not read the answers of are dropped.
    if (whole > 0 && !this.#isBlocked) this.#isBlocked = !this.#stream.write(all.subarray(0, whole));
    this.#stream.credit(bytes.length);
  }

  onEnd(): void {
    this.#stream.end();
  }

  onDrain(): void {
    this.#isBlocked = false;
  }

  onClose(_fault: StreamFault | undefined): void {}
}
