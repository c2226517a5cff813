import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Time that the other end of a tunnel has to take the last bytes and to end: breaking the stream off would drop them. */
const lingerMs = 5000;

/** Closes a connection once what waits to be written has gone out. */
export function closeSoon(stream: Duplex): void {
  if (stream instanceof Socket) {
    stream.destroySoon();
    return;
  }
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), lingerMs).unref();
  stream.once('close', () => {
    clearTimeout(timer);
  });
  stream.end();
  stream.resume();
}
