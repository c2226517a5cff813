import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const endStream = 1;
const endHeaders = 4;
const cancelCode = 8;

/** Encodes header fields as HPACK literals that client libraries refuse to send. Texts are shorter than 127 bytes. */
export function headersFrame(fields: readonly (readonly [string, string])[], isEnd: boolean, streamId = 1): Buffer {
  const block = fields.map(([name, value]) =>
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]),
  );
  return frame(1, endHeaders | (isEnd ? endStream : 0), streamId, Buffer.concat(block));
}

export function dataFrame(text: string): Buffer {
  return frame(0, endStream, 1, Buffer.from(text));
}

/** Cancels a stream. */
export function resetFrame(streamId: number): Buffer {
  return frame(3, 0, streamId, Buffer.from([0, 0, 0, cancelCode]));
}

/** Opens a connection and sends the HTTP/2 preface, so that any frame may follow. */
export function openFrames(port: number, servername: string, localAddress?: string): TLSSocket {
  const from = localAddress === undefined ? {} : { host: '127.0.0.1', localAddress };
  const socket = connect({ port, servername, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...from });
  socket.on('error', () => {}).write(Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0))]));
  return socket;
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
