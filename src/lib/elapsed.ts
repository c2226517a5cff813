/**
 * True if so much time has passed since a moment of the wall clock, or if that moment lies as far in the future: then the
 * clock was ahead when it was noted, and was set back since.
 */
export function hasElapsed(sinceMs: number, durationMs: number, nowMs = Date.now()): boolean {
  return Math.abs(nowMs - sinceMs) >= durationMs;
}
