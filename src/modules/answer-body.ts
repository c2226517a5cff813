import { Duplex, pipeline } from 'node:stream';

import type { Answering } from './step.ts';

type OpenTransform = NonNullable<Answering['openTransform']>;

/** Changes a body behind those steps that change it already. */
export function chained(before: OpenTransform | undefined, open: OpenTransform): OpenTransform {
  if (before === undefined) return open;
  return () => {
    const [first, second] = [before(), open()];
    // A fault of one ends both, and comes out of the whole.
    pipeline(first, second, () => {});
    return Duplex.from({ writable: first, readable: second });
  };
}
