import type { ConfigurationMoment } from '../../../../client/src/index.ts';
import { formatNumber } from '../../lib/text.ts';
import { formatExactly } from '../../lib/time.ts';

/** A moment in words: the time that was asked for, or that of the last change before it. */
export function momentWords(at: string, { created_at: made, version }: ConfigurationMoment): string {
  if (!/^\d+$/.test(at)) return formatExactly(at);
  return made === null ? `version ${formatNumber(version)}` : formatExactly(made);
}

/** The same for a button. */
export function shortWords(at: string, { created_at: made, version }: ConfigurationMoment): string {
  const time = /^\d+$/.test(at) ? made : at;
  return time === null ? `version ${formatNumber(version)}` : clockWords(Date.parse(time));
}

/** A time of UTC, as everything here is: "13:58:00". */
export function clockWords(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** A moment as somebody would type it. */
export function typedWords(at: string, moment: ConfigurationMoment): string {
  return momentWords(at, moment)
    .replace(/^version /, '')
    .replace(/ UTC$/, '');
}
