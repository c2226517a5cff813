import type { Tone } from '../components/verdict.tsx';
import { formatNumber } from '../lib/text.ts';

/** What became of a visitor. */
export type VisitVerdict = 'allowed' | 'warned' | 'refused';

export const verdictWords = { allowed: 'Let in', refused: 'Refused', warned: 'Warned' } as const;
export const verdictTones: Readonly<Record<VisitVerdict, Tone>> = {
  allowed: 'allow',
  refused: 'deny',
  warned: 'warn',
};

/** Such as "0.4" or "1,204". */
export function formatMs(ms: number): string {
  return ms < 10 ? String(Math.round(ms * 10) / 10) : formatNumber(Math.round(ms));
}
