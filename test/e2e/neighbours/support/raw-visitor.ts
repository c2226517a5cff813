import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';

/** A kept connection on which any bytes can be sent, opened anew when the server has closed it. */
export class RawVisitor implements Disposable {
  readonly #port: number;
  /** Name for TLS; without it the connection is plain. */
  readonly #host: string | undefined;
  #socket: Socket | undefined;

  constructor(port: number, host?: string) {
    this.#port = port;
    this.#host = host;
  }

  /** Sends one request, and resolves with the head of its answer when that is whole, or with what came before the end. */
  async ask(request: string): Promise<string> {
    const socket = this.#socket?.destroyed === false ? this.#socket : await this.#open();
    const { promise, resolve } = Promise.withResolvers<string>();
    let received = '';
    const read = (bytes: Buffer): void => {
      received += bytes.toString('latin1');
      const end = endOf(received);
      if (end === undefined) return;
      if (/\r\nconnection: close/i.test(received.slice(0, end))) socket.destroy();
      resolve(received);
    };
    const over = (): void => resolve(received);
    socket.on('data', read).on('close', over);
    socket.write(request, 'latin1');
    return promise.finally(() => socket.off('data', read).off('close', over));
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<Socket> {
    const options = { host: '127.0.0.1', port: this.#port };
    const tls = { servername: this.#host ?? '', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
    const socket = this.#host === undefined ? connectPlain(options) : connect({ ...options, ...tls });
    socket.on('error', () => {});
    await once(socket, this.#host === undefined ? 'connect' : 'secureConnect');
    this.#socket = socket;
    return socket;
  }
}

/** Where an answer ends, undefined while it goes on. */
function endOf(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const start = headEnd + 4;
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length >= start + Number(length) ? start + Number(length) : undefined;
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return start;
  const last = text.indexOf('0\r\n\r\n', start);
  return last < 0 ? undefined : last + 5;
}
