import { listTokens } from '../../lib/http-syntax.ts';

/** A content coding that the gateway can make. */
export type Coding = 'br' | 'zstd' | 'gzip';

const element = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[\t ]*;[\t ]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * The coding that the client likes best (RFC 9110, 12.5.3); among equals, the first of `offered`. Undefined: the body
 * is sent as it is, also to a client that refuses even that, since an answer is better than none.
 */
export function chooseCoding(acceptEncoding: string | undefined, offered: readonly Coding[]): Coding | undefined {
  // A client that says nothing accepts anything by the letter, but one that can decode says so.
  if (acceptEncoding === undefined) return undefined;
  const weights = readWeights(acceptEncoding);
  const others = weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? others;
    if (weight > bestWeight && weight >= identity) [best, bestWeight] = [coding, weight];
  }
  return best;
}

/** Elements that are not well-formed count as not said. */
function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const text of listTokens(acceptEncoding)) {
    const [, name, weight = '1'] = element.exec(text) ?? [];
    // RFC 9110, 8.4.1.3.
    if (name !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight));
  }
  return weights;
}
