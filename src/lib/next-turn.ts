/** Resolves after sockets and timers that are ready had their turn, so that long work does not hold up traffic. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
