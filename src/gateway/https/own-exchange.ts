import type { Socket } from 'node:net';

import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import { regionName } from '../../modules/region.ts';
import type { HeaderList, OwnRequest, RequestAnswer } from '../../modules/step.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBodySource } from './exchange.ts';

/** Where a request of a rule goes, and on whose behalf. */
export interface OwnOrigin {
  readonly accountId: string;
  /** URL of the internal endpoint. */
  readonly endpoint: string;
  readonly source: IpAddress;
  /** The source that its visitor counts for: a proxy that names no client may forward for many. */
  readonly counted: SourceKey;
  /** Requests of rules that have led to this one, with this one. */
  readonly depth: number;
  /** Requests that rules may still make for the visitor, at all endpoints together. */
  readonly left: { requests: number };
}

/** The answer is longer than rules take. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** A request that a rule makes to an internal endpoint. Nobody has sent it over a connection. */
export class OwnExchange implements Exchange {
  readonly own: OwnOrigin;
  readonly client: ClientConnection;
  readonly protocol = '1.1';
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fault = undefined;
  readonly headers: HeaderList;
  readonly body: Exchange['body'];
  readonly trailers: readonly string[] = [];
  readonly upgrade = undefined;
  heldBody: Buffer | undefined;
  headSent = false;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  readonly #maxBytes: number;
  readonly #done: (answer: RequestAnswer | Error) => void;
  readonly #bytes: Buffer;
  readonly #pieces: Buffer[] = [];
  #head: AnswerHead | undefined;
  #length = 0;
  #isOver = false;

  constructor(
    { method, url, headers, body, maxBytes }: OwnRequest,
    own: OwnOrigin,
    done: (answer: RequestAnswer | Error) => void,
  ) {
    this.own = own;
    this.method = method;
    this.target = `${url.pathname}${url.search}`;
    this.host = url.host;
    this.headers = ['Host', url.host, ...headers];
    this.body = body.length === 0 ? 'none' : { length: body.length };
    this.heldBody = body;
    this.#bytes = body;
    this.#maxBytes = maxBytes;
    this.#done = done;
    const startedMs = Date.now();
    this.client = {
      peer: own.source,
      peerText: formatIp(own.source),
      peerTrusted: false,
      servername: url.protocol === 'https:' ? url.hostname : undefined,
      certificate: undefined,
      isTls13: false,
      peerPort: 0,
      localAddress: '',
      localPort: 0,
      facts: () => ({
        clientPort: 0,
        serverAddress: '',
        serverPort: 0,
        serverRegion: regionName(),
        startedMs,
        bytesIn: body.length,
        bytesOut: this.#length,
        tls: undefined,
      }),
    };
  }

  get bodyBytes(): number {
    return this.#length;
  }

  readonly bodySource: RequestBodySource = {
    read: (onBytes, onEnd) => {
      if (this.#bytes.length > 0) onBytes(this.#bytes);
      onEnd();
    },
    pause() {},
    resume() {},
    drop() {},
  };

  /** Nobody waits for the answer any more. */
  leave(): void {
    this.#end(new Error('it was given up'));
  }

  sendInterim(): void {}

  sendHead(head: AnswerHead): void {
    this.headSent = true;
    this.#head = head;
  }

  flushHead(): void {}

  write(chunk: Buffer, written: () => void): boolean {
    this.#add(chunk);
    written();
    return true;
  }

  end(chunk: Buffer | undefined): void {
    if (chunk !== undefined) this.#add(chunk);
    const { status = 502, headers = [] } = this.#head ?? {};
    this.#end({ status, headers, body: Buffer.concat(this.#pieces) });
  }

  abort(): void {
    this.#end(new Error('the connection was closed before the end of the answer'));
  }

  switchProtocols(): { readonly socket: Socket; readonly firstBytes: Buffer } {
    throw new Error('requests of rules ask for no other protocol');
  }

  #add(chunk: Buffer): void {
    this.#length += chunk.length;
    // The memory of a chunk is used again.
    if (this.#length <= this.#maxBytes) this.#pieces.push(Buffer.from(chunk));
    else this.#end(new AnswerTooLong());
  }

  #end(outcome: RequestAnswer | Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done(outcome);
    const { onClose } = this;
    this.onClose = undefined;
    onClose?.();
  }
}
