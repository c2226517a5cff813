import { GrowingBuffer } from '../../lib/growing-buffer.ts';
import type { RecordedExchange, RequestReport } from '../watch/http-watch.ts';

/** First line and headers of a message. */
export interface Head {
  readonly line: string;
  /** Name, value, name, value, … as sent, in Latin-1. */
  readonly headers: readonly string[];
}

/** Most bytes that are kept of each body. */
export const maxBodyBytes = 64 * 1024;
/** Memory of an exchange beside its heads and bodies. */
const ownBytes = 1024;
const noHead: Head = { line: '', headers: [] };

/** What a replay was made of. */
export interface ReplayOf {
  readonly id: string;
  readonly isEdited: boolean;
}

/** A request that passed and its answer, with as much of their bodies as is kept. */
export class Exchange implements RecordedExchange {
  readonly id: string;
  readonly startedAt = new Date();
  readonly visitor: string;
  readonly request: Head;
  readonly replayOf: ReplayOf | undefined;
  readonly requestKept = new GrowingBuffer(maxBodyBytes);
  readonly answerKept = new GrowingBuffer(maxBodyBytes);
  requestBytes = 0;
  answerBytes = 0;
  hasRequestEnded = false;
  reply: Head | undefined;
  /** Undefined while it is under way. */
  report: RequestReport | undefined;
  readonly #grew: (bytes: number) => void;
  #isForgotten = false;
  #heldBytes: number;

  /** `grew` is told of the memory that it takes from then on. */
  constructor(id: string, head: string, from: Origin, grew: (bytes: number) => void) {
    this.id = id;
    this.visitor = from.visitor;
    this.replayOf = from.replayOf;
    this.request = readHead(head);
    this.#grew = grew;
    this.#heldBytes = ownBytes + 2 * head.length;
  }

  /** Memory that it takes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  requestBody(bytes: Buffer): void {
    this.requestBytes += bytes.length;
    this.#keep(this.requestKept, bytes);
  }

  requestEnd(): void {
    this.hasRequestEnded = true;
  }

  answer(head: string): void {
    this.reply = readHead(head);
    this.#add(2 * head.length);
  }

  answerBody(bytes: Buffer): void {
    this.answerBytes += bytes.length;
    this.#keep(this.answerKept, bytes);
  }

  close(report: RequestReport): void {
    this.report = report;
  }

  /** It is in no list any more: nothing more of it is kept. */
  forget(): void {
    this.#isForgotten = true;
    this.requestKept.take();
    this.answerKept.take();
  }

  #keep(kept: GrowingBuffer, bytes: Buffer): void {
    const room = maxBodyBytes - kept.length;
    if (this.#isForgotten || room <= 0 || bytes.length === 0) return;
    const before = kept.capacity;
    kept.add(bytes.subarray(0, room));
    if (kept.capacity > before) this.#add(kept.capacity - before);
  }

  #add(bytes: number): void {
    if (this.#isForgotten) return;
    this.#heldBytes += bytes;
    this.#grew(bytes);
  }
}

/** Who sends requests over a connection. */
export interface Origin {
  /** `ip:port` of the visitor, as the server gave it. */
  readonly visitor: string;
  readonly replayOf: ReplayOf | undefined;
}

function readHead(text: string): Head {
  const [line, ...lines] = text.split('\r\n');
  if (line === undefined) return noHead;
  const headers = lines.flatMap((each) => {
    const colon = each.indexOf(':');
    return [each.slice(0, colon), each.slice(colon + 1).trim()];
  });
  return { line, headers };
}

/** The first value of a header; empty if there is none. */
export function headerOf({ headers }: Head, name: string): string {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? '' : (headers[at + 1] ?? '');
}

/** Method and target of the first line of a request. */
export function requestLineOf({ line }: Head): { readonly method: string; readonly target: string } {
  const [method = '', target = ''] = line.split(' ');
  return { method, target };
}
