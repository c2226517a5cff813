import type { HttpAnswered, HttpDecision } from '../engine.ts';

/** Events of answered requests, which a worker sends by the thousand. Sent as objects, they take seven times the processor time. */
export interface PackedAnswers {
  /** Each text once. */
  readonly texts: readonly string[];
  /** So many numbers for each event as it has fields; a text is the number of its place, and -1 stands for undefined. */
  readonly numbers: Float64Array;
}

const eventTexts = ['operationId', 'edgeId', 'routeId', 'source', 'protocol', 'method', 'host', 'path'] as const;
const eventNumbers = ['status', 'errorCode', 'durationMs', 'upstreamMs'] as const;
const decisionTexts = [
  'accountId',
  'wouldRefuse',
  'refusedBy',
  'module',
  'backendId',
  'reason',
  'login',
  'person',
] as const;
const decisionNumbers = ['version', 'bytesIn', 'bytesOut'] as const;
/** `warnedBy` is the last. */
const width = eventTexts.length + eventNumbers.length + decisionTexts.length + decisionNumbers.length + 1;
const none = -1;
/** Ids have no blanks. */
const betweenIds = ' ';

export class AnswerPacker {
  #places = new Map<string, number>();
  #numbers: number[] = [];

  get length(): number {
    return this.#numbers.length / width;
  }

  add(event: HttpAnswered, decision: HttpDecision): void {
    const { warnedBy = [] } = decision;
    for (const name of eventTexts) this.#addText(event[name]);
    for (const name of eventNumbers) this.#numbers.push(event[name] ?? none);
    for (const name of decisionTexts) this.#addText(decision[name]);
    for (const name of decisionNumbers) this.#numbers.push(decision[name] ?? none);
    this.#addText(warnedBy.length === 0 ? undefined : warnedBy.join(betweenIds));
  }

  /** Takes all that were added. */
  take(): PackedAnswers {
    const packed = { texts: [...this.#places.keys()], numbers: Float64Array.from(this.#numbers) };
    this.#places = new Map();
    this.#numbers = [];
    return packed;
  }

  #addText(text: string | undefined): void {
    let place = text === undefined ? none : this.#places.get(text);
    if (text !== undefined && place === undefined) this.#places.set(text, (place = this.#places.size));
    this.#numbers.push(place ?? none);
  }
}

/** `worker` is the number of the worker that has sent them. */
export function* unpackAnswers(
  { texts, numbers }: PackedAnswers,
  worker?: number,
): Generator<readonly [HttpAnswered, HttpDecision]> {
  let at = 0;
  const number = (): number | undefined => (numbers[at++] === none ? undefined : numbers[at - 1]);
  const text = (): string | undefined => texts[numbers[at++] ?? none];
  while (at < numbers.length) {
    const event = Object.fromEntries([
      ...eventTexts.map((name) => [name, text()] as const),
      ...eventNumbers.map((name) => [name, number()] as const),
    ]);
    const decision = Object.fromEntries([
      ...decisionTexts.map((name) => [name, text()] as const),
      ...decisionNumbers.map((name) => [name, number()] as const),
    ]);
    // Only the packer writes them.
    yield [event, { ...decision, worker, warnedBy: text()?.split(betweenIds) }] as unknown as readonly [
      HttpAnswered,
      HttpDecision,
    ];
  }
}
