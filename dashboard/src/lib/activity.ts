const idleAfterMs = 5 * 60_000;

let lastInput = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel'] as const) {
  addEventListener(
    event,
    () => {
      lastInput = Date.now();
    },
    { passive: true, capture: true },
  );
}

/**
 * Milliseconds until the next look for news, or false while nobody sits there: a screen that asks by itself must not
 * keep a session alive that nobody uses.
 */
export function pollEvery(ms: number): () => number | false {
  return () => (Date.now() - lastInput < idleAfterMs ? ms : false);
}
