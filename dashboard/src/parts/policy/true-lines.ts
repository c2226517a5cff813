import type { TrafficPolicyCheckVerdict } from '../../../../client/src/index.ts';

/** Lines, counted from 0, of the expressions that were true, found by their texts in the order of the rules. */
export function trueLines(policy: string, { rules }: Pick<TrafficPolicyCheckVerdict, 'rules'>): readonly number[] {
  const lines = policy.split('\n');
  // Two lines that say the same are found one after another.
  const seen = new Set<number>();
  const found: number[] = [];
  for (const { phase, expressions } of rules) {
    const start = Math.max(
      0,
      lines.findIndex((line) => line.includes(phase)),
    );
    for (const { expression, result } of expressions) {
      const written = JSON.stringify(expression).slice(1, -1);
      const at = lines.findIndex(
        (line, index) => index >= start && !seen.has(index) && (line.includes(expression) || line.includes(written)),
      );
      if (at >= 0) seen.add(at);
      if (at >= 0 && result === 'true') found.push(at);
    }
  }
  return found;
}
