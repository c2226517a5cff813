import type { OperationFacts, Operations } from '../../../client/src/index.ts';

type Page = Readonly<Record<string, unknown>>;

const notes: Readonly<Record<string, (page: Page) => readonly string[]>> = { '/decisions': ofDecisions };

/** What a page says beside its entries that a person should know, in sentences. */
export function notesOf({ path }: OperationFacts, page: Page): readonly string[] {
  return notes[path]?.(page) ?? [];
}

/** An empty list must not look like traffic without refusals. */
function ofDecisions(page: Page): readonly string[] {
  // An earlier or later server may leave out any of it.
  const {
    not_kept: notKept,
    other_gateways: others = 0,
    dropped = 0,
  } = page as Partial<Operations['DecisionsList']['response']>;
  return [
    ...(notKept === undefined ? [] : [notKept]),
    ...(others === 0 || notKept !== undefined ? [] : [`decisions of ${count(others, 'gateway')} are not among these`]),
    ...(dropped === 0
      ? []
      : [`${count(dropped, 'decision')} of this account could not be kept since the gateways were started`]),
  ];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
