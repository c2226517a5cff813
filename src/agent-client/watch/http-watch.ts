import { untilEnd } from './body-skip.ts';
import type { BodySkip } from './body-skip.ts';
import { readRequestHead, readResponseHead } from './head.ts';
import { announcedBody, MessageReader } from './message-reader.ts';

/** A request that passed through the agent. */
export interface RequestReport {
  readonly method: string;
  readonly path: string;
  /** Undefined if the connection ended before an answer came. */
  readonly status: number | undefined;
  /** Time from the head of the request to the end of the answer. */
  readonly ms: number;
  /** False if the connection ended before the answer did. */
  readonly isWhole: boolean;
}

/** Keeps copies of what passes. Nothing that it does changes, delays or breaks what passes. */
export interface ExchangeRecorder {
  /** A request begins; its head is in Latin-1. */
  begin(head: string): RecordedExchange;
  /** The connection is not HTTP/1, or no longer, and is not looked at any more. */
  gaveUp(): void;
}

/** One request and its answer, as they come. */
export interface RecordedExchange {
  /** Its memory is used again. */
  requestBody(bytes: Buffer): void;
  requestEnd(): void;
  /** The head of the answer, in Latin-1; interim ones are not told. */
  answer(head: string): void;
  /** Its memory is used again. */
  answerBody(bytes: Buffer): void;
  close(report: RequestReport): void;
}

interface OpenRequest {
  readonly method: string;
  readonly path: string;
  readonly startMs: number;
  readonly record: RecordedExchange | undefined;
  status: number | undefined;
}

/** Requests of one connection that may wait for their answers; a client that pipelines more is not described. */
const maxOpen = 256;

/**
 * Describes the requests of a connection by reading along. It changes nothing and refuses nothing: after an upgrade, or
 * after bytes that are no HTTP/1, it describes the connection no longer.
 */
export class HttpWatch {
  readonly #report: (request: RequestReport) => void;
  readonly #open: OpenRequest[] = [];
  readonly #requests: MessageReader;
  readonly #responses: MessageReader;
  readonly #recorder: ExchangeRecorder | undefined;
  /** The request whose body is read, which may have its answer already. */
  #arriving: RecordedExchange | undefined;
  /** True once the connection has gone over to another protocol. */
  #isSwitched = false;
  #isLost = false;

  constructor(report: (request: RequestReport) => void, recorder?: ExchangeRecorder) {
    this.#report = report;
    this.#recorder = recorder;
    this.#requests = new MessageReader({
      onHead: (text) => this.#request(text),
      onBody: recorder && ((bytes) => this.#arriving?.requestBody(bytes)),
      onEnd: () => this.#arriving?.requestEnd(),
    });
    this.#responses = new MessageReader({
      onHead: (text) => this.#response(text),
      onBody: recorder && ((bytes) => this.#open[0]?.record?.answerBody(bytes)),
      onEnd: () => {
        this.#answered();
      },
    });
  }

  /** True once the connection is not described any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The request that is answered next. */
  get next(): Pick<OpenRequest, 'method' | 'path'> | undefined {
    return this.#open[0];
  }

  fromVisitor(bytes: Buffer): void {
    if (this.#isLost) return;
    this.#requests.push(bytes);
    this.#loseIfOver();
  }

  fromTarget(bytes: Buffer): void {
    if (this.#isLost) return;
    this.#responses.push(bytes);
    if (this.#responses.isLost) this.#giveUp();
  }

  /** The target sends no more: the end of an answer without a length. */
  targetEnded(): void {
    if (this.#isLost) return;
    const [first] = this.#open;
    if (first?.status !== undefined && first.status >= 200) this.#close(first, true);
    this.#lose();
  }

  /** The connection is over. */
  ended(): void {
    this.#lose();
  }

  #request(text: string): BodySkip | undefined | 'lost' {
    const head = readRequestHead(text);
    if (head === undefined || this.#open.length >= maxOpen) return 'lost';
    const { method, path } = head;
    const record = this.#recorder?.begin(text);
    this.#arriving = record;
    this.#open.push({ method, path, startMs: performance.now(), record, status: undefined });
    return announcedBody(head);
  }

  #response(text: string): BodySkip | undefined | 'lost' {
    const head = readResponseHead(text);
    const [request] = this.#open;
    if (head === undefined || request === undefined) return 'lost';
    const { status } = head;
    request.status = status;
    if (status === 101 || status >= 200) request.record?.answer(text);
    const isTunnel = status === 101 || (request.method === 'CONNECT' && status >= 200 && status < 300);
    if (isTunnel) {
      this.#isSwitched = true;
      this.#close(request, true);
      return 'lost';
    }
    if (status < 200 || status === 204 || status === 304 || request.method === 'HEAD') return undefined;
    if (!head.isChunked && head.contentLength === undefined) return untilEnd;
    return announcedBody(head);
  }

  #answered(): void {
    const [request] = this.#open;
    // An interim answer leaves its request waiting.
    if (request?.status !== undefined && request.status >= 200) this.#close(request, true);
  }

  #close({ method, path, status, startMs, record }: OpenRequest, isWhole: boolean): void {
    this.#open.shift();
    const report = { method, path, status, ms: performance.now() - startMs, isWhole };
    record?.close(report);
    this.#report(report);
    this.#loseIfOver();
  }

  /** Requests before the bytes that are none are still described. */
  #loseIfOver(): void {
    if (this.#requests.isLost && this.#open.length === 0) this.#giveUp();
  }

  #giveUp(): void {
    if (!this.#isLost && !this.#isSwitched) this.#recorder?.gaveUp();
    this.#lose();
  }

  /** Requests that were open are cut off as far as can be told. */
  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#requests.lose();
    this.#responses.lose();
    while (this.#open[0] !== undefined) this.#close(this.#open[0], false);
  }
}
