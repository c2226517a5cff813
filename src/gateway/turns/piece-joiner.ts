import { GrowingBuffer } from '../../lib/growing-buffer.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

/** Pieces of this size are handed on as they are: copying them would cost more than a write of their own. In bytes. */
const largeBytes = 4096;
/** Joined bytes that are handed on before the turn ends. */
const mostBytes = 65_536;

/**
 * Joins the pieces that one turn of the event loop brings. A write costs four times what reading a piece costs: who sends
 * single bytes must not cause a write for each. The first piece of a turn goes on at once, and most turns have one only.
 * Pieces also wait, joined, as long as one before them does: a piece that waits by itself takes 200 bytes, however small it is.
 */
export class PieceJoiner {
  readonly #emit: (bytes: Buffer, written: () => void) => void;
  #pending: GrowingBuffer | undefined;
  #turn = -1;
  /** Pieces that were handed on and have not been written. */
  #unwritten = 0;
  /** The turn of what is pending has ended. */
  #isLate = false;

  /** `emit` gets bytes that belong to nobody else, unless they were one piece, and calls `written` when it holds them no more. */
  constructor(emit: (bytes: Buffer, written: () => void) => void) {
    this.#emit = emit;
  }

  push(piece: Buffer): void {
    if (piece.length >= largeBytes) {
      this.flush();
      this.#handOn(piece);
      return;
    }
    const turn = currentTurn();
    if (this.#pending === undefined && this.#turn !== turn && this.#unwritten === 0) {
      this.#turn = turn;
      this.#handOn(piece);
    } else {
      this.#add(piece);
    }
  }

  /** Hands on what waits: before an end, or before anything else that must come behind it. */
  flush(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.drop();
    this.#handOn(pending.take());
  }

  /** Forgets what waits: nobody is there any more to take it. */
  drop(): void {
    this.#pending = undefined;
    this.#isLate = false;
  }

  #handOn(bytes: Buffer): void {
    this.#unwritten += 1;
    this.#emit(bytes, this.#written);
  }

  readonly #written = (): void => {
    this.#unwritten -= 1;
    if (this.#unwritten === 0 && this.#isLate) this.flush();
  };

  #add(piece: Buffer): void {
    if (this.#pending === undefined) {
      const pending = new GrowingBuffer();
      this.#pending = pending;
      atTurnEnd(() => {
        if (this.#pending !== pending) return;
        if (this.#unwritten === 0) this.flush();
        else this.#isLate = true;
      });
    }
    this.#pending.add(piece);
    if (this.#pending.length >= (this.#isLate ? largeBytes : mostBytes)) this.flush();
  }
}
