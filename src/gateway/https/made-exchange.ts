import type { Socket } from 'node:net';

import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { regionName } from '../../modules/region.ts';
import type { HeaderList } from '../../modules/step.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBodySource } from './exchange.ts';

/** A request that the gateway itself makes. */
export interface MadeRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly host: string;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly source: IpAddress;
  /** The server name that a client would have given; undefined without TLS. */
  readonly servername: string | undefined;
  readonly localPort: number;
  /** Bytes of the answer's body that are kept, and those beyond which it is ended. */
  readonly keptBytes: number;
  readonly mostBytes: number;
}

/** What came of it. */
export interface MadeOutcome {
  readonly head: AnswerHead | undefined;
  /** The start of the body. */
  readonly body: Buffer;
  /** All bytes of the body that came. */
  readonly bytes: number;
  /** Undefined: the answer is whole. */
  readonly error: Error | undefined;
}

/** The answer is longer than is taken. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** A request that nobody has sent over a connection, with its answer. */
export class MadeExchange implements Exchange {
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
  readonly #limits: Pick<MadeRequest, 'keptBytes' | 'mostBytes'>;
  readonly #done: (outcome: MadeOutcome) => void;
  readonly #bytes: Buffer;
  readonly #pieces: Buffer[] = [];
  #head: AnswerHead | undefined;
  #length = 0;
  #isOver = false;

  constructor(
    { method, target, host, headers, body, source, servername, localPort, keptBytes, mostBytes }: MadeRequest,
    done: (outcome: MadeOutcome) => void,
  ) {
    this.method = method;
    this.target = target;
    this.host = host;
    this.headers = ['Host', host, ...headers];
    this.body = body.length === 0 ? 'none' : { length: body.length };
    this.heldBody = body;
    this.#bytes = body;
    this.#limits = { keptBytes, mostBytes };
    this.#done = done;
    const startedMs = Date.now();
    this.client = {
      peer: source,
      peerText: formatIp(source),
      peerTrusted: false,
      servername,
      certificate: undefined,
      isTls13: false,
      peerPort: 0,
      localAddress: '',
      localPort,
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
    this.#end(undefined);
  }

  abort(): void {
    this.#end(new Error('the connection was closed before the end of the answer'));
  }

  switchProtocols(): { readonly socket: Socket; readonly firstBytes: Buffer } {
    throw new Error('requests of the gateway ask for no other protocol');
  }

  #add(chunk: Buffer): void {
    const { keptBytes, mostBytes } = this.#limits;
    const room = keptBytes - this.#length;
    this.#length += chunk.length;
    if (this.#length > mostBytes) this.#end(new AnswerTooLong());
    // The memory of a chunk is used again.
    else if (room > 0) this.#pieces.push(Buffer.from(chunk.subarray(0, room)));
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done({ head: this.#head, body: Buffer.concat(this.#pieces), bytes: this.#length, error });
    const { onClose } = this;
    this.onClose = undefined;
    onClose?.();
  }
}
