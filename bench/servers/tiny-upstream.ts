import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * Upstream of those who attack: answers GET at once, swallows everything else, becomes a WebSocket when asked to, and
 * answers `/tiny` without end in chunks of one byte, at a megabyte a second for one connection and two for all. Answers "port"
 * with its port, and "count" with the number of bytes of such chunks that it has sent.
 */
const everyMs = 10;
const bytesPerMs = 1000;
const allBytesPerMs = 2000;
const maxWaiting = 65_536;
const chunk = Buffer.from('1\r\nx\r\n');
const chunks = Buffer.concat(Array.from({ length: 5000 }, () => chunk));
const quick = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok';
const endless = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
const upgraded =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ';

const tiny = new Set<Socket>();
let sentBytes = 0;

const server = createServer((socket) => {
  let received = '';
  const read = (bytes: Buffer): void => {
    received += bytes.toString('latin1');
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const head = received.slice(0, end);
      received = received.slice(end + 4);
      if (answer(socket, head)) continue;
      socket.off('data', read).resume();
      return;
    }
    if (/^(?:GET |$)/.test(received.slice(0, 4))) return;
    if (received.length >= 4 && !received.startsWith('POST')) socket.off('data', read).resume();
  };
  socket.on('data', read);
  socket.on('error', () => {});
  socket.on('close', () => tiny.delete(socket));
}).listen(0, '127.0.0.1');
const listening = once(server, 'listening');

setInterval(() => {
  const each = Math.min(bytesPerMs, allBytesPerMs / tiny.size) * everyMs;
  const bytes = chunks.subarray(0, Math.floor(each / chunk.length) * chunk.length);
  for (const socket of tiny) {
    if (socket.writableLength > maxWaiting) continue;
    socket.write(bytes);
    sentBytes += bytes.length;
  }
}, everyMs);
process.on('message', (word: unknown) => {
  if (word === 'count') process.send?.(sentBytes);
  // The address of a server that listens on a port has this form.
  else void listening.then(() => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());

/** Returns false for requests behind which all bytes are swallowed. */
function answer(socket: Socket, head: string): boolean {
  const key = /\r\nsec-websocket-key: *(\S+)/i.exec(head)?.[1];
  const isTiny = /^\w+ \/tiny/.test(head);
  if (key !== undefined) {
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`${upgraded}${accept}\r\n\r\n`);
  } else if (isTiny) {
    socket.write(endless);
    tiny.add(socket);
  } else if (head.startsWith('GET ')) {
    socket.write(quick);
    return true;
  }
  return false;
}
