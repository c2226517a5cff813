import { STATUS_CODES } from 'node:http';
import { Duplex } from 'node:stream';

import type { FixedAnswerEntry } from '../../snapshot/contract.ts';
import { upstreamBroke } from '../errors.ts';
import type { OpenOutcome, UpstreamSource } from './upstream-source.ts';

/** A backend that answers every request alike: each connection to it takes one. */
export class FixedAnswer implements UpstreamSource {
  readonly id: string;
  readonly isShared = false;
  readonly silentEnd = upstreamBroke;
  readonly #head: Buffer;
  readonly #whole: Buffer;

  constructor({ id, status, headers, body }: FixedAnswerEntry) {
    this.id = id;
    // A 205 has a length, which is 0.
    const bytes = Buffer.from(status === 205 ? '' : body);
    const mayHaveBody = status !== 204 && status !== 304;
    const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      // A browser would guess the type, and could take text for a page.
      ...(mayHaveBody && bytes.length > 0 && !hasType ? ['content-type: text/plain; charset=utf-8'] : []),
      ...(mayHaveBody ? [`content-length: ${bytes.length}`] : []),
      'connection: close',
    ];
    this.#head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    this.#whole = mayHaveBody ? Buffer.concat([this.#head, bytes]) : this.#head;
  }

  /** A connection of HTTP/1.1 that takes one request. */
  connect(): Duplex {
    return new AnswerStream((request) => (request.startsWith('HEAD ') ? this.#head : this.#whole));
  }

  open(_visitor: unknown, _idleOf: unknown, outcome: OpenOutcome): () => void {
    const later = setImmediate(() => outcome.opened(this.connect(), ''));
    return () => clearImmediate(later);
  }
}

/** Answers when the first bytes come, and reads on to the end. */
class AnswerStream extends Duplex {
  readonly #answer: (request: string) => Buffer;
  #hasAnswered = false;

  constructor(answer: (request: string) => Buffer) {
    super({ allowHalfOpen: true });
    this.#answer = answer;
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    if (!this.#hasAnswered) {
      this.#hasAnswered = true;
      this.push(this.#answer(chunk.toString('latin1')));
      this.push(null);
    }
    done();
  }

  override _final(done: () => void): void {
    if (!this.#hasAnswered) this.push(null);
    done();
  }
}
