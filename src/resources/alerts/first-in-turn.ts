/** The first items of lists, one of each list in turn, so that a long list keeps none of the others waiting. */
export function firstInTurn<Item>(lists: readonly (readonly Item[])[], most: number): readonly Item[] {
  const taken: Item[] = [];
  for (let at = 0; taken.length < most; at++) {
    const round = lists.flatMap((list) => list.slice(at, at + 1));
    if (round.length === 0) break;
    taken.push(...round.slice(0, most - taken.length));
  }
  return taken;
}
