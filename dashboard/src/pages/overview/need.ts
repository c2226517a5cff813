import type { ReactNode } from 'react';

import type { Tone } from '../../components/verdict.tsx';

/** Something that somebody has to look at. */
export interface Need {
  readonly key: string;
  readonly tone: Extract<Tone, 'deny' | 'warn'>;
  readonly title: string;
  readonly note?: ReactNode;
  readonly action?: { readonly to: string; readonly words: string };
  /** Nobody is affected so far: it stands last. */
  readonly isCalm?: true;
  /** The higher, the worse: what was put away comes back when it rises. */
  readonly level: number;
}
