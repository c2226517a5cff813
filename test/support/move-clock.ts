import type { TestContext } from 'node:test';

/** Returns a function that moves `performance.now()` ahead, until the test is over. Timers go on as they are. */
export function moveClock(t: TestContext): (ms: number) => void {
  const now = performance.now.bind(performance);
  let movedMs = 0;
  t.mock.method(performance, 'now', () => now() + movedMs);
  return (ms) => {
    movedMs += ms;
  };
}
