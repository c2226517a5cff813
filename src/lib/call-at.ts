/** The clock is looked at so often, since it may be set. */
const longestMs = 60_000;

/** Calls at a time, in milliseconds since 1970, or soon after. Returns a function that calls it off. */
export function callAt(timeMs: number, call: () => void, clock: () => number = Date.now): () => void {
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const leftMs = timeMs - clock();
    if (leftMs <= 0) call();
    else timer = setTimeout(look, Math.min(leftMs, longestMs)).unref();
  };
  timer = setTimeout(look, Math.max(0, Math.min(timeMs - clock(), longestMs))).unref();
  return () => {
    clearTimeout(timer);
  };
}
