import { Transform } from 'node:stream';

import { EvaluationFault } from '../../../lib/cel/run.ts';
import { GrowingBuffer } from '../../../lib/growing-buffer.ts';
import { headerValues } from '../../../lib/header-list.ts';
import { chained } from '../../answer-body.ts';
import type { Answering, HeaderList } from '../../step.ts';
import type { Action } from './action.ts';
import { headersOfBytes, longestBody, readReplacements } from './body-changes.ts';
import type { ChangeBody } from './body-changes.ts';

/** Replaces what expressions match in the body of an answer. It is sent when it is whole. */
export const responseBodyFindReplace: Action = {
  type: 'response-body-find-replace',
  phases: ['on_http_response'],
  guards: false,
  build(config) {
    const replacementsFor = readReplacements(config);
    return {
      ends: false,
      run(visit) {
        const { answer } = visit;
        // An answer of the gateway's own is not the upstream's to change.
        if (answer === undefined || !answer.isEncodable || !hasBody(answer)) return undefined;
        const isAsked = answer.request.method !== 'HEAD';
        const change = replacementsFor(visit);
        if (isAsked) checkBody(answer);
        const held = isAsked ? (answer.contentLength ?? 0) : 0;
        // The body must not pass as it is: where there is no room, the visitor gets another answer.
        answer.hold(held);
        answer.headers = changedHeaders(answer.headers);
        answer.contentLength = undefined;
        if (isAsked)
          answer.openTransform = chained(answer.openTransform, () => new BodyChanger(change, held, answer.hold));
        return undefined;
      },
      facts: { needsPlainAnswer: true },
    };
  },
};

function hasBody({ status, contentLength }: Answering): boolean {
  return status >= 200 && status !== 204 && status !== 304 && contentLength !== 0;
}

/** Throws for a body in which not all could be found that is to be replaced. */
function checkBody({ status, headers, contentLength }: Answering): void {
  const isCoded = headerValues(headers, 'content-encoding').some((each) => each.toLowerCase() !== 'identity');
  const [type = ''] = headerValues(headers, 'content-type');
  const fault = isCoded
    ? 'the answer is compressed, so that nothing can be replaced in it'
    : status === 206
      ? 'the answer is a part of a body'
      : /^\s*text\/event-stream/i.test(type)
        ? 'the answer is a stream of events, which has no end'
        : contentLength !== undefined && contentLength > longestBody
          ? `the answer has more than ${longestBody} bytes`
          : undefined;
  if (fault !== undefined) throw new EvaluationFault(fault);
}

function changedHeaders(list: HeaderList): HeaderList {
  const kept: string[] = [];
  for (let at = 0; at < list.length; at += 2) {
    const [name = '', value = ''] = [list[at], list[at + 1]];
    const lower = name.toLowerCase();
    if (headersOfBytes.has(lower)) continue;
    // The tag is that of the bytes as the upstream has sent them.
    kept.push(name, lower === 'etag' && !value.startsWith('W/') ? `W/${value}` : value);
  }
  return kept;
}

/** Takes a body, and gives it out changed at its end. */
class BodyChanger extends Transform {
  readonly #change: ChangeBody;
  readonly #hold: Answering['hold'];
  /** Bytes that are counted. */
  #held: number;
  readonly #body: GrowingBuffer;

  constructor(change: ChangeBody, held: number, hold: Answering['hold']) {
    super();
    this.#body = new GrowingBuffer(held === 0 ? longestBody : held);
    this.#change = change;
    this.#held = held;
    this.#hold = hold;
  }

  override _transform(bytes: Buffer, _encoding: string, done: (error?: Error) => void): void {
    try {
      if (this.#body.length + bytes.length > longestBody)
        throw new EvaluationFault(`the answer has more than ${longestBody} bytes`);
      // Memory is what counts: bytes may come in any pieces.
      this.#count(this.#body.capacityWith(bytes.length));
    } catch (error) {
      done(asError(error));
      return;
    }
    this.#body.add(bytes);
    done();
  }

  override _flush(done: (error?: Error | null, bytes?: Buffer) => void): void {
    this.#change(this.#body.take()).then(
      ({ body }) => {
        try {
          this.#count(body.length);
          done(null, body);
        } catch (error) {
          done(asError(error));
        }
      },
      (error: unknown) => {
        done(asError(error));
      },
    );
  }

  /** Throws if there is no room for so many bytes. */
  #count(bytes: number): void {
    if (bytes <= this.#held) return;
    this.#hold(bytes - this.#held);
    this.#held = bytes;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
