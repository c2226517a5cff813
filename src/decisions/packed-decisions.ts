import type { Decision } from './decision-line.ts';

/** Decisions as columns. Sent as objects, or as lines, they would take a multiple of the processor time from traffic. */
export interface PackedDecisions {
  /** Begins with the empty one. */
  readonly texts: readonly string[];
  /** For each decision the numbers of its texts, the first of which is the account. */
  readonly places: Uint32Array;
  readonly numbers: Float64Array;
}

/** No column keeps longer texts. */
const longestText = 512;
const textColumns = 17;
const numberColumns = 10;
/** Bytes that a decision takes beside its texts, roughly. */
export const packedRowBytes = textColumns * 4 + numberColumns * 8;

/** Packs decisions of any accounts, up to a fixed number. */
export class DecisionPacker {
  readonly #most: number;
  readonly #numbers: Float64Array;
  readonly #places: Uint32Array;
  #texts: string[] = [''];
  #placeOf = new Map<string, number>();
  /** The text of each column in the decision before, which is often the same one, and its place. */
  readonly #textsBefore: string[] = Array.from({ length: textColumns }, () => '');
  readonly #placesBefore = new Uint32Array(textColumns);
  #rows = 0;

  constructor(most: number) {
    this.#most = most;
    this.#numbers = new Float64Array(most * numberColumns);
    this.#places = new Uint32Array(most * textColumns);
  }

  get isFull(): boolean {
    return this.#rows === this.#most;
  }

  /** Called only where there is room. */
  add(accountId: string, decision: Decision): void {
    const places = this.#places;
    let at = this.#rows * textColumns;
    places[at++] = this.#known(0, accountId);
    places[at++] = this.#known(1, decision.kind);
    places[at++] = this.#known(2, decision.verdict);
    places[at++] = this.#other(decision.request_id);
    places[at++] = this.#known(4, decision.edge_id);
    places[at++] = this.#known(5, decision.route_id);
    places[at++] = this.#known(6, decision.source);
    places[at++] = this.#known(7, decision.host);
    places[at++] = this.#known(8, decision.method);
    places[at++] = this.#other(decision.path);
    places[at++] = this.#known(10, decision.protocol);
    places[at++] = this.#known(11, decision.module);
    places[at++] = this.#known(12, decision.rule);
    places[at++] = this.#known(13, decision.would_be_refused_by);
    places[at++] = this.#known(14, decision.reason);
    places[at++] = this.#known(15, decision.person);
    places[at] = this.#known(16, decision.backend_id);
    const numbers = this.#numbers;
    at = this.#rows * numberColumns;
    numbers[at++] = decision.at_ms;
    numbers[at++] = decision.port;
    numbers[at++] = decision.status;
    numbers[at++] = decision.code;
    numbers[at++] = decision.duration_us;
    numbers[at++] = decision.upstream_us;
    numbers[at++] = decision.bytes_in;
    numbers[at++] = decision.bytes_out;
    numbers[at++] = decision.configuration_version;
    numbers[at] = decision.worker;
    this.#rows += 1;
  }

  /** Takes all that were added. */
  take(): PackedDecisions {
    const packed = {
      texts: this.#texts,
      places: this.#places.slice(0, this.#rows * textColumns),
      numbers: this.#numbers.slice(0, this.#rows * numberColumns),
    };
    this.#texts = [''];
    this.#placeOf = new Map();
    this.#textsBefore.fill('');
    this.#rows = 0;
    return packed;
  }

  /** A text that others have as well. */
  #known(column: number, text: string): number {
    if (text === '') return 0;
    if (text === this.#textsBefore[column]) return this.#placesBefore[column] ?? 0;
    let place = this.#placeOf.get(text);
    if (place === undefined) this.#placeOf.set(text, (place = this.#other(text)));
    this.#textsBefore[column] = text;
    this.#placesBefore[column] = place;
    return place;
  }

  /** A text that seldom comes twice: to look for it would take longer than to send it again. */
  #other(text: string): number {
    if (text === '') return 0;
    return this.#texts.push(text.length > longestText ? text.slice(0, longestText) : text) - 1;
  }
}

/** Decisions in their order, each with its account. */
export function* unpackDecisions({ texts, places, numbers }: PackedDecisions): Generator<readonly [string, Decision]> {
  let [textAt, numberAt] = [0, 0];
  const text = (): string => texts[places[textAt++] ?? 0] ?? '';
  const number = (): number => numbers[numberAt++] ?? 0;
  while (textAt < places.length) {
    const accountId = text();
    // Fields are read in the order in which they were packed.
    const kind = text();
    const verdict = text();
    const ids = { request_id: text(), edge_id: text(), route_id: text() };
    const asked = { source: text(), host: text(), method: text(), path: text(), protocol: text() };
    const why = { module: text(), rule: text(), would_be_refused_by: text(), reason: text(), person: text() };
    const backend_id = text();
    const at_ms = number();
    const answer = { port: number(), status: number(), code: number() };
    const cost = { duration_us: number(), upstream_us: number(), bytes_in: number(), bytes_out: number() };
    const by = { configuration_version: number(), worker: number() };
    yield [accountId, { kind, verdict, ...ids, ...asked, ...why, backend_id, at_ms, ...answer, ...cost, ...by }];
  }
}
