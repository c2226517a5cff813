import { once } from 'node:events';
import { connect } from 'node:net';

export interface PlainAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends pieces of bytes on one connection, each in a write of its own, and reads until the server closes it. Returns every
 * answer; fails on bytes that belong to none.
 */
export async function rawAnswers(url: string, pieces: readonly string[]): Promise<readonly PlainAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
  // A server that closes while bytes are still on their way resets the connection.
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return readAnswers(Buffer.concat(chunks).toString('latin1'));
}

function readAnswers(text: string): readonly PlainAnswer[] {
  const answers: PlainAnswer[] = [];
  for (let at = 0; at < text.length;) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    const head = text.slice(at, headEnd);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    if (headEnd < 0 || status === undefined) throw new Error(`no answer begins at byte ${at}: ${text}`);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const bodyStart = headEnd + 4;
    at = bodyStart + length;
    if (at > text.length) throw new Error(`the last answer is cut off: ${text}`);
    answers.push({ status: Number(status), head, body: text.slice(bodyStart, at) });
  }
  return answers;
}
