import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const txtType = 16;
/** Response, authoritative. */
const answered = 0x8400;
/** Bytes of a message before its question. */
const headerBytes = 12;

/**
 * A name server that answers for TXT records in a file, a `name value` on each line, which the hook of the test writes. It
 * has no other records, which is a valid answer too.
 */
export async function serveRecords(file: string): Promise<Disposable> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    socket.send(answerTo(query, readRecords(file)), port, address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  return { [Symbol.dispose]: () => void socket.close() };
}

export function readRecords(file: string): readonly (readonly [string, string])[] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => line.split(' ') as [string, string]);
}

function answerTo(query: Buffer, records: readonly (readonly [string, string])[]): Buffer {
  const labels: string[] = [];
  let at = headerBytes;
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  const question = query.subarray(headerBytes, at + 5);
  const isTxt = query.readUInt16BE(at + 1) === txtType;
  const name = labels.join('.').toLowerCase();
  const found = isTxt ? records.filter(([each]) => each === name) : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(answered, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  return Buffer.concat([header, question, ...found.map(([, value]) => txtRecord(value))]);
}

/** Its name is that of the question, which starts at byte 12. */
function txtRecord(value: string): Buffer {
  const text = Buffer.from(value);
  const head = Buffer.from([0xc0, headerBytes, 0, txtType, 0, 1, 0, 0, 0, 0, 0, text.length + 1, text.length]);
  return Buffer.concat([head, text]);
}
