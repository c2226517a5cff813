import { refusals } from '../errors/refusals.ts';
import type { HttpDecision } from '../gateway/engine.ts';

/** What happened to a request or connection, in the words of those who look on. */
export type SeenVerdict = 'allowed' | 'warned' | 'refused';

type Warnings = Pick<HttpDecision, 'warnedBy' | 'wouldRefuse' | 'refusedBy'>;

const refusalCodes: ReadonlySet<number> = new Set(refusals.map(({ code }) => code));
const noIds: readonly string[] = [];

export function httpVerdict(errorCode: number | undefined, decision: Warnings): SeenVerdict {
  return errorCode !== undefined && refusalCodes.has(errorCode) ? 'refused' : passedAs(decision);
}

export function passedAs({ warnedBy = noIds, wouldRefuse }: Warnings): 'warned' | 'allowed' {
  return warnedBy.length > 0 || wouldRefuse !== undefined ? 'warned' : 'allowed';
}

/** The restriction that refused, or those that warned. */
export function restrictionsOf(verdict: SeenVerdict, { refusedBy, warnedBy = noIds }: Warnings): readonly string[] {
  if (verdict === 'warned') return warnedBy;
  return refusedBy === undefined ? noIds : [refusedBy];
}
