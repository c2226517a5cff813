import { refusalReasons } from './stream-request.ts';
import type { RefusalReason } from './stream-request.ts';

/** The first byte that comes back on a stream: it is open, or why it is not. */
const texts = ['opened', ...refusalReasons] as const;

export const replies = {
  write(reply: 'opened' | RefusalReason): Buffer {
    return Buffer.of(texts.indexOf(reply));
  },

  /** A reply of a later version of the program is taken for a refusal. */
  read(bytes: Buffer): 'opened' | RefusalReason {
    return texts[bytes[0] ?? -1] ?? 'unreachable';
  },
};
