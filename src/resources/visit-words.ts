import type { Met, VisitRun } from './visit-run.ts';

/** The verdict of a configuration, in words that may follow "Now". */
export function wordsOf({ verdict, by }: VisitRun): string {
  const where = by === undefined ? '' : nameOf(by);
  switch (verdict) {
    case 'allowed':
      return by === undefined ? 'it would be let in' : `it would be let in, and ${where} would answer`;
    case 'refused':
      return `${where} would refuse it`;
    case 'not_served':
      return by?.step === undefined
        ? `it would not be served: ${by?.kind === 'route' ? '' : 'of the edge, '}${by?.reason ?? ''}`
        : `it would not be served: ${where} fails`;
    default:
      return by?.step === undefined
        ? `it is not known: ${by?.reason ?? ''}`
        : `it depends on ${by.step.asks?.by ?? `more of the request than is kept (${by.step.module})`}, which is not kept`;
  }
}

function nameOf({ kind, id, step }: Met): string {
  if (step !== undefined) return `the module ${step.module} of ${id}`;
  return kind === 'ip_restriction' ? `the IP restriction ${id}` : id;
}
