import { GrowingBuffer } from '../lib/growing-buffer.ts';

/** Bytes of an answer: directories and orders have a few thousand, and the longest chain of certificates fits. */
const answerLimit = 262_144;

/** Reads an answer of an authority, which is not read on where it is longer than any that makes sense. */
export async function readAnswer({ body }: Response): Promise<string> {
  if (body === null) return '';
  const read = new GrowingBuffer(answerLimit);
  // Whoever leaves the loop ends the connection.
  for await (const piece of body) {
    if (read.length + piece.length > answerLimit) throw new Error(`its answer is longer than ${answerLimit / 1024} kB`);
    read.add(piece);
  }
  return read.bytes.toString('utf8');
}
