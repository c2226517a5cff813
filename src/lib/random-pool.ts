import { randomFillSync } from 'node:crypto';

/** Random bytes are fetched in bulk, because a system call costs more than the bytes. */
const pool = new Uint8Array(4096);
let used = pool.length;

/** Fills `target` from `start` on. Bytes that were taken are wiped from the pool: they may become a secret. */
export function fillRandom(target: Uint8Array, start = 0): void {
  const count = target.length - start;
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  for (let at = 0; at < count; at++) {
    target[start + at] = pool[used + at] ?? 0;
    pool[used + at] = 0;
  }
  used += count;
}
