/** Bounds the bytes of bodies that each principal has sent, or has begun to send, for calls that have not begun. */
export class BodyBudget {
  readonly limitBytes: number;
  readonly #heldBytes = new Map<string, number>();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Returns what gives the bytes back, or undefined where they are too many. A single body is never too large here. */
  take(principalId: string, bytes: number): (() => void) | undefined {
    const held = this.#heldBytes.get(principalId) ?? 0;
    if (held > 0 && held + bytes > this.limitBytes) return undefined;
    this.#heldBytes.set(principalId, held + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#heldBytes.get(principalId) ?? 0) - bytes;
      if (left > 0) this.#heldBytes.set(principalId, left);
      else this.#heldBytes.delete(principalId);
    };
  }
}
