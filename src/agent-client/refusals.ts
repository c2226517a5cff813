/** Why a server refuses an agent, by what the operator has to change. */
export type RefusalKind = 'token' | 'address' | 'name' | 'option' | 'other';

/** A refusal by the server, with its own words. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** Number of the error, if the server gave one. */
  readonly code: number | undefined;

  constructor(text: string, code: number | undefined) {
    super(text);
    this.code = code;
  }
}

/** Numbers of errors, as the documentation lists them. */
const kindsByCode: ReadonlyMap<number, RefusalKind> = new Map<number, RefusalKind>([
  ...([105, 107, 300, 4018, 20072] as const).map((code) => [code, 'token'] as const),
  [3206, 'address'],
  ...([334, 9037, 20092, 20094, 20095, 20096, 20097, 20098, 20099, 20285] as const).map(
    (code) => [code, 'name'] as const,
  ),
  ...([20093, 20130, 20131, 20154, 20156] as const).map((code) => [code, 'option'] as const),
]);

/** Faults of the server itself, or of a moment. */
const passing: ReadonlySet<number> = new Set([20133, 20161]);
/** Shortages: they end by themselves as a rule, but whoever has just started the agent should know of them. */
const shortages: ReadonlySet<number> = new Set([108, 20098, 20284]);

export function kindOf({ code }: Refused): RefusalKind {
  return (code === undefined ? undefined : kindsByCode.get(code)) ?? 'other';
}

/** True if trying again later may help. */
export function isPassing({ code = 0 }: Refused, wasOnline: boolean): boolean {
  return passing.has(code) || (wasOnline && shortages.has(code));
}
