import type { RenewalWindow } from './renewal-info.ts';

/** When to try and when to renew. Pure: `random` is from 0 to 1. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Waits after the first failures; the last one is repeated. */
const waitsMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, 24 * hourMs];
const longestWaitMs = 7 * 24 * hourMs;
/** Share of its lifetime after which a certificate is renewed; the jitter moves it forward. */
const renewalShare = 2 / 3;
const jitterShare = 1 / 30;
/** Share of its lifetime after which a certificate is renewed, whatever the authority says. */
const latestShare = 9 / 10;

/** How long to wait after so many failures in a row. The authority may ask for longer, within a week. */
export function retryWaitMs(failures: number, askedMs: number, random: number): number {
  const own = waitsMs[Math.min(Math.max(failures, 1), waitsMs.length) - 1] ?? hourMs;
  return Math.min(longestWaitMs, Math.max(own, askedMs)) * (1 + random / 10);
}

/** When to renew a certificate, in milliseconds since 1970. */
export function renewalMs(notBeforeMs: number, notAfterMs: number, random: number): number {
  const lifetimeMs = notAfterMs - notBeforeMs;
  return notBeforeMs + lifetimeMs * (renewalShare - random * jitterShare);
}

/** When to renew a certificate for which the authority has named a window; a time within it that was chosen before stays. */
export function renewalWithin(
  { startMs, endMs }: RenewalWindow,
  { notBeforeMs, notAfterMs }: { readonly notBeforeMs: number; readonly notAfterMs: number },
  chosenMs: number,
  random: number,
): number {
  const isWithin = startMs <= chosenMs && chosenMs <= endMs;
  const wantedMs = isWithin ? chosenMs : startMs + random * (endMs - startMs);
  return Math.min(wantedMs, notBeforeMs + (notAfterMs - notBeforeMs) * latestShare);
}

/** How long to wait before the authority is asked again for the window: as it says, from an hour to a day. */
export function nextAskMs(askedMs: number): number {
  return Math.min(24 * hourMs, Math.max(hourMs, askedMs === 0 ? 6 * hourMs : askedMs));
}
