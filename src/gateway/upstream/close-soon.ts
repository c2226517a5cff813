import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Time that the other end of a tunnel has to take the last bytes and to end: breaking the stream off would drop them. */
const tunnelMs = 5000;

/** Closes a connection once what waits to be written has gone out, or at once where none of it does for `limitMs`. */
export function closeSoon(stream: Duplex, limitMs: number): void {
  if (stream instanceof Socket) {
    stream.destroySoon();
  } else {
    stream.end();
    stream.resume();
  }
  if (stream.destroyed) return;
  let left = stream.writableLength;
  const timer = setInterval(
    () => {
      if (stream.writableLength === left) stream.destroy();
      left = stream.writableLength;
    },
    stream instanceof Socket ? limitMs : tunnelMs,
  ).unref();
  stream.once('close', () => {
    clearInterval(timer);
  });
}
