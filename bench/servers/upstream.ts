import { createServer } from 'node:net';

/** `node upstream.ts PORT BODY`: answers HTTP/1.1 requests and parses no more of them than their end. */
const [, , port, body = ''] = process.argv;
const small = answer(Buffer.from(body));
const large = answer(Buffer.alloc(1_000_000, 'x'));

createServer((socket) => {
  let received = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received += String(chunk);
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const head = received.slice(0, end);
      received = received.slice(end + 4);
      socket.write(head.startsWith('GET /bulk') ? large : small);
      if (/\r\nconnection: close/i.test(head)) socket.end();
    }
  });
}).listen(Number(port), '127.0.0.1');

function answer(content: Buffer): Buffer {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${content.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content]);
}
