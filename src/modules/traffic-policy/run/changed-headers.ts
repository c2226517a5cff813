import type { Budget } from '../../../lib/cel/run.ts';
import { foldName } from '../../../lib/http-syntax.ts';
import type { HeaderList } from '../../step.ts';

/** A change of headers: some go, then lines come. */
export interface HeaderChange {
  /** Names that go, as `foldName` spells them. */
  readonly drops: readonly string[];
  /** Lengths of names that go, as bits: comparing them spares most headers the look-up. */
  readonly dropLengths: number;
  /** Names, in lower case, and values that come, in turn. */
  readonly lines: HeaderList;
  /** True: they come in front. */
  readonly isFirst: boolean;
  /** Lengths of all names, those that go and those that come, as bits. */
  readonly lengths: number;
}

/** Names are in lower case. */
export function headerChange(dropped: readonly string[], lines: HeaderList, isFirst = false): HeaderChange {
  const drops = dropped.map(foldName);
  const dropLengths = drops.reduce((bits, name) => bits | lengthBit(name), 0);
  let lengths = dropLengths;
  for (let at = 0; at < lines.length; at += 2) lengths |= lengthBit(lines[at]!);
  return { drops, dropLengths, lines, isFirst, lengths };
}

function lengthBit(name: string): number {
  return 1 << (name.length & 31);
}

/** Headers with changes that are gathered, and applied together when somebody reads what they change. */
export class ChangedHeaders {
  #headers: HeaderList;
  #pending: HeaderChange[] = [];
  /** Lengths of names that pending changes concern, and how many entries these have. */
  #lengths = 0;
  #entries = 0;

  constructor(headers: HeaderList) {
    this.#headers = headers;
  }

  /** The budget pays at once for what is done later. */
  add(change: HeaderChange, budget: Budget): void {
    const { lines, dropLengths, lengths } = change;
    const again = (this.#lengths & dropLengths) === 0 ? 0 : this.#entries / 4;
    budget.spend(2 + lines.length + again + (this.#entries === 0 ? this.#headers.length / 4 : 0));
    this.#pending.push(change);
    this.#lengths |= lengths;
    this.#entries += 1 + lines.length;
  }

  /** All of them as they are by now; the same list until they change again. */
  get all(): HeaderList {
    if (this.#pending.length > 0) {
      this.#headers = applyChanges(this.#headers, this.#pending);
      this.#pending = [];
      this.#lengths = 0;
      this.#entries = 0;
    }
    return this.#headers;
  }

  /** A list that has all headers of this name as they are by now; of others, it may be older. */
  having(lowerName: string): HeaderList {
    return (this.#lengths & lengthBit(lowerName)) === 0 ? this.#headers : this.all;
  }
}

/** The headers after all these changes, in order. */
function applyChanges(headers: HeaderList, changes: readonly HeaderChange[]): HeaderList {
  let dropLengths = 0;
  for (const change of changes) dropLengths |= change.dropLengths;
  const kept = dropLengths === 0 ? headers.slice() : without(headers, dropsOf(changes), dropLengths);
  let front: readonly string[] = none;
  // What comes stands behind this place, and may go by a later change.
  const start = kept.length;
  let addedLengths = 0;
  for (const { drops, dropLengths: lengths, lines, isFirst, lengths: all } of changes) {
    if ((addedLengths & lengths) !== 0) {
      const dropped = new Set(drops);
      front = without(front, dropped, lengths);
      for (const each of without(kept.splice(start), dropped, lengths)) kept.push(each);
    }
    if (isFirst) front = [...lines, ...front];
    else for (let at = 0; at < lines.length; at++) kept.push(lines[at]!);
    addedLengths |= all;
  }
  return front.length === 0 ? kept : [...front, ...kept];
}

const none: readonly string[] = [];

function dropsOf(changes: readonly HeaderChange[]): ReadonlySet<string> {
  const drops = new Set<string>();
  for (const change of changes) for (const name of change.drops) drops.add(name);
  return drops;
}

function without(headers: HeaderList, drops: ReadonlySet<string>, lengths: number): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if ((lengths & lengthBit(name)) === 0 || !drops.has(foldName(name.toLowerCase())))
      kept.push(name, headers[at + 1]!);
  }
  return kept;
}
