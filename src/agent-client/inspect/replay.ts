import type { Socket } from 'node:net';

import { formatProxyHeader } from '../../lib/ip/format-proxy-header.ts';
import { ipFromIpv4Word } from '../../lib/ip/address.ts';
import { connectionHeaders, isFieldValue, isToken } from '../../lib/http-syntax.ts';
import { dialTarget } from '../dial-target.ts';
import type { Target } from '../target.ts';
import { HttpWatch } from '../watch/http-watch.ts';
import { headerOf, maxBodyBytes, requestLineOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { RecentExchanges } from './recent-exchanges.ts';

/** What is changed of a request before it is sent again; what is left out goes as it came. */
export interface ReplayChanges {
  readonly method?: string | undefined;
  readonly target?: string | undefined;
  /** Name, value, name, value, … */
  readonly headers?: readonly string[] | undefined;
  readonly body?: Buffer | undefined;
}

export interface ReplayOptions {
  readonly target: Target;
  readonly insecure: boolean;
  /** Version of the PROXY protocol that the target expects before each connection; 0: none. */
  readonly proxyProtocol: 0 | 1 | 2;
  readonly dialMs: number;
}

/** A request that cannot be sent again; its message says why. */
export class ReplayFault extends Error {
  override readonly name = 'ReplayFault';
}

/** The header that tells the program that a request was sent again, with the id of the first. */
const replayHeader = 'Gatehouse-Replay';
const notSent: ReadonlySet<string> = new Set([...connectionHeaders, 'expect', replayHeader.toLowerCase()]);
const mostAtOnce = 8;
/** Limit for the whole answer. */
const answerMs = 30_000;
const loopback = { ip: ipFromIpv4Word(0x7f000001), port: 0 };

/** Sends recorded requests to the target again, one connection for each. Redirects are recorded, not followed. */
export class Replays {
  readonly #recent: RecentExchanges;
  readonly #options: ReplayOptions;
  #underWay = 0;

  constructor(recent: RecentExchanges, options: ReplayOptions) {
    this.#recent = recent;
    this.#options = options;
  }

  /** Resolves with what was recorded of it once its answer is there. Rejects with a `ReplayFault`. */
  async send(original: Exchange, changes: ReplayChanges): Promise<Exchange> {
    const bytes = this.#build(original, changes);
    if (this.#underWay >= mostAtOnce)
      throw new ReplayFault(`${mostAtOnce} replays wait for their answers. Try again when one has ended.`);
    this.#underWay++;
    try {
      return await this.#sendBytes(
        bytes,
        original,
        Object.values(changes).some((change) => change !== undefined),
      );
    } finally {
      this.#underWay--;
    }
  }

  #build(original: Exchange, changes: ReplayChanges): Buffer {
    const line = requestLineOf(original.request);
    const { method = line.method, target = line.target, headers = original.request.headers } = changes;
    if (!isToken(method)) throw new ReplayFault('The method is a word, such as POST.');
    if (!/^[\x21-\x7e]{1,60000}$/.test(target))
      throw new ReplayFault('The path has no blanks and only ASCII characters.');
    if (method === 'CONNECT' || (original.report?.status === 101 && changes.headers === undefined))
      throw new ReplayFault('The connection went over to another protocol, such as WebSocket, and cannot be replayed.');
    const body = changes.body ?? wholeBody(original);
    const kept: string[] = [];
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = [headers[at], headers[at + 1]];
      if (!isToken(name)) throw new ReplayFault(`"${name}" is not the name of a header.`);
      if (!isFieldValue(value)) throw new ReplayFault(`The value of ${name} has a character that headers cannot have.`);
      if (!notSent.has(name.toLowerCase())) kept.push(`${name}: ${value}`);
    }
    if (!kept.some((header) => /^host:/i.test(header))) kept.push(`Host: ${new URL(this.#options.target.url).host}`);
    kept.push(`${replayHeader}: ${original.id}`, 'Connection: close');
    if (body.length > 0 || headerOf(original.request, 'content-length') !== '')
      kept.push(`Content-Length: ${body.length}`);
    const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${kept.join('\r\n')}\r\n\r\n`, 'latin1');
    return Buffer.concat([head, body]);
  }

  async #sendBytes(bytes: Buffer, original: Exchange, isEdited: boolean): Promise<Exchange> {
    const { target, insecure, proxyProtocol, dialMs } = this.#options;
    const header = proxyProtocol === 0 ? undefined : formatProxyHeader(proxyProtocol, loopback, loopback);
    let sent: Exchange | undefined;
    const replayOf = { id: original.id, isEdited };
    const recorder = this.#recent.recorder({ visitor: '', replayOf }, (exchange) => (sent = exchange));
    const { promise: answered, resolve: over } = Promise.withResolvers<void>();
    const watch = new HttpWatch(() => {
      over();
    }, recorder);
    watch.fromVisitor(bytes);
    if (sent === undefined) throw new ReplayFault('The request as it was changed is none of HTTP/1.');
    const dialled = dialTarget(target, { insecure, timeoutMs: dialMs, prefix: target.isTls ? header : undefined });
    const socket = await dialled.socket.catch((error: unknown) => {
      watch.ended();
      const reason = error instanceof Error ? error.message : String(error);
      throw new ReplayFault(`${target.url} cannot be reached: ${reason}.`);
    });
    if (header !== undefined && !target.isTls) socket.write(header);
    socket.write(bytes);
    await this.#answer(socket, watch, answered, over);
    return sent;
  }

  async #answer(socket: Socket, watch: HttpWatch, answered: Promise<void>, over: () => void): Promise<void> {
    const timer = setTimeout(over, answerMs);
    socket
      .on('data', (bytes) => {
        watch.fromTarget(bytes);
      })
      .on('end', () => {
        watch.targetEnded();
      })
      .on('close', over);
    await answered;
    clearTimeout(timer);
    socket.destroy();
    watch.ended();
  }
}

/** The body as it came. Throws if it was not kept whole. */
function wholeBody({ requestKept, requestBytes, hasRequestEnded }: Exchange): Buffer {
  if (requestBytes > requestKept.length || !hasRequestEnded)
    throw new ReplayFault(
      `The body of this request was not kept whole: ${requestBytes} bytes came, and ${maxBodyBytes} are kept. Edit the request and give a body.`,
    );
  return Buffer.from(requestKept.bytes);
}
