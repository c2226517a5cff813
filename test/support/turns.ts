/**
 * Runs work, and returns how many items it has handled at most between two turns of the event loop. The work calls `item`
 * for each, which returns what it is given.
 */
export async function mostInOneTurn(work: (item: <T>(value: T) => T) => Promise<unknown>): Promise<number> {
  let most = 0;
  let handled = 0;
  const turn = () => {
    handled = 0;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  try {
    await work((value) => {
      handled += 1;
      most = Math.max(most, handled);
      return value;
    });
  } finally {
    clearImmediate(immediate);
  }
  return most;
}
