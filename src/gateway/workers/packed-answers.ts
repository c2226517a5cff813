import type { HttpAnswered, HttpDecision } from '../engine.ts';

/** Events of answered requests, which a worker sends by the thousand. Sent as objects, they take seven times the processor time. */
export interface PackedAnswers {
  /** Each text once. */
  readonly texts: readonly string[];
  /** So many numbers for each event as it has fields; a text is the number of its place, and -1 stands for undefined. */
  readonly numbers: Float64Array;
}

const width = 18;
const none = -1;
/** Ids have no blanks. */
const betweenIds = ' ';

export class AnswerPacker {
  #places = new Map<string, number>();
  #numbers: number[] = [];

  get length(): number {
    return this.#numbers.length / width;
  }

  add(event: HttpAnswered, { accountId, warnedBy, refusedBy, backendId, reason, login }: HttpDecision): void {
    this.#numbers.push(
      this.#placeOf(event.operationId),
      this.#placeOf(event.edgeId),
      this.#placeOf(event.routeId),
      this.#placeOf(event.source),
      this.#placeOf(event.protocol),
      this.#placeOf(event.method),
      this.#placeOf(event.host),
      this.#placeOf(event.path),
      event.status,
      event.errorCode ?? none,
      event.durationMs,
      event.upstreamMs ?? none,
      this.#placeOf(accountId),
      this.#placeOf((warnedBy?.length ?? 0) === 0 ? undefined : warnedBy?.join(betweenIds)),
      this.#placeOf(refusedBy),
      this.#placeOf(backendId),
      this.#placeOf(reason),
      this.#placeOf(login),
    );
  }

  /** Takes all that were added. */
  take(): PackedAnswers {
    const packed = { texts: [...this.#places.keys()], numbers: Float64Array.from(this.#numbers) };
    this.#places = new Map();
    this.#numbers = [];
    return packed;
  }

  #placeOf(text: string | undefined): number {
    if (text === undefined) return none;
    let place = this.#places.get(text);
    if (place === undefined) this.#places.set(text, (place = this.#places.size));
    return place;
  }
}

export function* unpackAnswers({ texts, numbers }: PackedAnswers): Generator<readonly [HttpAnswered, HttpDecision]> {
  const text = (at: number): string | undefined => texts[numbers[at] ?? none];
  const number = (at: number): number | undefined => (numbers[at] === none ? undefined : numbers[at]);
  for (let at = 0; at < numbers.length; at += width) {
    const event = {
      operationId: text(at),
      edgeId: text(at + 1),
      routeId: text(at + 2),
      source: text(at + 3) ?? '',
      // Only the packer writes it.
      protocol: text(at + 4) as HttpAnswered['protocol'],
      method: text(at + 5) ?? '',
      host: text(at + 6) ?? '',
      path: text(at + 7) ?? '',
      status: numbers[at + 8] ?? 0,
      errorCode: number(at + 9),
      durationMs: numbers[at + 10] ?? 0,
      upstreamMs: number(at + 11),
    };
    // Only the packer writes it.
    const decision = {
      accountId: text(at + 12),
      warnedBy: text(at + 13)?.split(betweenIds),
      refusedBy: text(at + 14),
      backendId: text(at + 15),
      reason: text(at + 16),
      login: text(at + 17) as HttpDecision['login'],
    };
    yield [event, decision];
  }
}
