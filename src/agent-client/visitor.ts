import type { Socket } from 'node:net';

import type { MuxStream, StreamFault, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import type { ProxyHeader } from '../agents/wire/proxy-header.ts';
import { ProxyHeaderReader } from '../lib/ip/proxy-protocol.ts';
import { unavailable } from './bad-gateway.ts';
import { dialTarget } from './dial-target.ts';
import type { Dialling } from './dial-target.ts';
import type { RecentExchanges } from './inspect/recent-exchanges.ts';
import type { Target } from './target.ts';
import { HttpWatch } from './watch/http-watch.ts';
import type { RequestReport } from './watch/http-watch.ts';

/** A connection that was not described by its requests. */
export interface ConnectionReport {
  /** `ip:port` of the visitor, as the server gave it. */
  readonly visitor: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
}

export interface VisitorEvents {
  request(report: RequestReport): void;
  connection(report: ConnectionReport): void;
  targetFailed(target: Target, reason: string): void;
}

export interface VisitorOptions {
  readonly target: Target;
  readonly insecure: boolean;
  /** True if the server puts a header of the PROXY protocol before the bytes of the visitor. */
  readonly hasProxyHeader: boolean;
  readonly dialMs: number;
  readonly events: VisitorEvents;
  /** Where requests are recorded; undefined: nowhere. */
  readonly recent: RecentExchanges | undefined;
}

/** Time for the rest of a request whose target cannot be reached, and for the server to take the answer to it. */
const lingerMs = 5000;

/** One visitor: joins a stream of the server to a connection to the target, byte for byte. */
export class Visitor implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #options: VisitorOptions;
  readonly #address: string;
  readonly #watch: HttpWatch | undefined;
  readonly #over: () => void;
  readonly #startMs = performance.now();
  #proxyHeader: ProxyHeaderReader | undefined;
  #dialling: Dialling | undefined;
  #socket: Socket | undefined;
  /** Bytes that came before the connection was there. */
  #early: Buffer[] = [];
  #hasEnded = false;
  #state: 'dialling' | 'joined' | 'failed' | 'answered' = 'dialling';
  #timer: NodeJS.Timeout | undefined;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(stream: MuxStream, header: ProxyHeader, options: VisitorOptions, over: () => void) {
    const isHttp = (header.proto === 'http' || header.proto === 'https') && !header.passthroughTls;
    this.#stream = stream;
    this.#options = options;
    this.#address = header.clientAddr;
    this.#over = over;
    const recorder = options.recent?.recorder({ visitor: header.clientAddr, replayOf: undefined });
    this.#watch = isHttp ? new HttpWatch((report) => options.events.request(report), recorder) : undefined;
    if (options.hasProxyHeader) this.#proxyHeader = new ProxyHeaderReader();
    // Before TLS goes only the header, which has to be read first.
    if (!(options.hasProxyHeader && options.target.isTls)) this.#dial(undefined);
  }

  /** False if nobody would miss it: a kept connection without a request under way. */
  get isBusy(): boolean {
    return this.#watch === undefined || this.#watch.isLost || this.#watch.next !== undefined;
  }

  onBytes(bytes: Buffer): void {
    this.#bytesIn += bytes.length;
    if (this.#proxyHeader === undefined) this.#fromVisitor(bytes);
    else this.#readProxyHeader(this.#proxyHeader, bytes);
  }

  onEnd(): void {
    this.#hasEnded = true;
    this.#socket?.end();
    // A request, or the header before it, that is incomplete stays so.
    if (this.#state === 'failed' || this.#proxyHeader !== undefined) this.#stream.reset();
  }

  onDrain(): void {
    this.#socket?.resume();
  }

  onClose(fault: StreamFault | undefined): void {
    clearTimeout(this.#timer);
    this.#dialling?.cancel();
    // Without a fault, both directions have ended in order.
    if (fault !== undefined && this.isBusy) this.#socket?.resetAndDestroy();
    else if (fault !== undefined) this.#socket?.destroy();
    this.#watch?.ended();
    if (this.#watch === undefined) this.#reportConnection();
    this.#over();
  }

  /** The header is passed on with the rest; only TLS has to wait for it, and the watch must not see it. */
  #readProxyHeader(reader: ProxyHeaderReader, bytes: Buffer): void {
    const { isTls } = this.#options.target;
    const read = reader.push(bytes);
    if (read.state === 'bad') {
      this.#stream.reset(codes.protocol);
      return;
    }
    const rest = read.state === 'done' ? read.rest : bytes.subarray(bytes.length);
    const header = bytes.subarray(0, bytes.length - rest.length);
    if (isTls) this.#early.push(header);
    else this.#toTarget(header);
    if (read.state !== 'done') return;
    this.#proxyHeader = undefined;
    if (isTls) {
      const prefix = Buffer.concat(this.#early.splice(0));
      this.#stream.credit(prefix.length);
      this.#dial(prefix);
    }
    if (rest.length > 0) this.#fromVisitor(rest);
  }

  #fromVisitor(bytes: Buffer): void {
    this.#watch?.fromVisitor(bytes);
    this.#toTarget(bytes);
  }

  #toTarget(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#state === 'dialling') this.#early.push(bytes);
    else if (this.#state === 'joined') this.#write(bytes);
    else {
      this.#stream.credit(bytes.length);
      this.#answer();
    }
  }

  #write(bytes: Buffer): void {
    this.#socket?.write(bytes, (error) => {
      if (!error) this.#stream.credit(bytes.length);
    });
  }

  #dial(prefix: Buffer | undefined): void {
    const { target, insecure, dialMs } = this.#options;
    this.#dialling = dialTarget(target, { insecure, timeoutMs: dialMs, prefix });
    this.#dialling.socket.then(
      (socket) => {
        this.#join(socket);
      },
      (error: unknown) => {
        this.#failed(error instanceof Error ? error.message : String(error));
      },
    );
  }

  #join(socket: Socket): void {
    this.#dialling = undefined;
    if (this.#stream.isClosed) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#state = 'joined';
    socket
      .on('data', (bytes) => {
        this.#fromTarget(bytes);
      })
      .on('end', () => {
        this.#watch?.targetEnded();
        this.#stream.end();
      })
      .on('close', (hadError) => {
        if (hadError) this.#stream.reset(codes.reset);
      });
    for (const bytes of this.#early.splice(0)) this.#write(bytes);
    if (this.#hasEnded) socket.end();
  }

  #fromTarget(bytes: Buffer): void {
    this.#bytesOut += bytes.length;
    this.#watch?.fromTarget(bytes);
    if (!this.#stream.write(bytes)) this.#socket?.pause();
  }

  #failed(reason: string): void {
    this.#dialling = undefined;
    if (this.#stream.isClosed) return;
    this.#options.events.targetFailed(this.#options.target, reason);
    this.#state = 'failed';
    this.#timer = setTimeout(() => {
      this.#stream.reset();
    }, lingerMs);
    for (const bytes of this.#early.splice(0)) this.#stream.credit(bytes.length);
    this.#answer();
  }

  /** Answers the visitor in place of the target, as soon as the request is there; other protocols have no such answer. */
  #answer(): void {
    if (this.#state !== 'failed') return;
    const request = this.#watch?.next;
    if (request === undefined) {
      if (this.#watch === undefined || this.#watch.isLost || this.#hasEnded) this.#stream.reset();
      return;
    }
    this.#state = 'answered';
    const answer = unavailable(request.method);
    this.#watch?.fromTarget(answer);
    this.#stream.end(answer);
    this.#timer?.refresh();
  }

  #reportConnection(): void {
    const [visitor, bytesIn, bytesOut] = [this.#address, this.#bytesIn, this.#bytesOut];
    this.#options.events.connection({ visitor, bytesIn, bytesOut, ms: performance.now() - this.#startMs });
  }
}
