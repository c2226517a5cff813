import type { Duplex } from 'node:stream';

import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { VisitorFacts } from '../tunnels/tunnel-backend.ts';

/** The outcome of opening a connection. One of these is called, once. */
export interface OpenOutcome {
  /** `via` says which way it takes, where there are several. */
  opened(stream: Duplex, via: string): void;
  failed(error: ErrorDefinition<never>, cause: Error): void;
}

/** Opens the connections of one backend. */
export interface UpstreamSource {
  /** Id of the backend. */
  readonly id: string;
  /** False: a connection belongs to one client, and is not kept after its request. */
  readonly isShared: boolean;
  /** The error of a connection that ended without a byte of an answer to its first request. */
  readonly silentEnd: ErrorDefinition<never>;
  /** The way that the next request should take, where there are several; undefined: any. `idleOf` counts the idle connections of a way. */
  preferredWay?(idleOf: (via: string) => number): string | undefined;
  /** An idle connection is used again. */
  reused?(): void;
  /** Returns a function that gives the connection up; then the outcome is never called. */
  open(visitor: () => VisitorFacts, idleOf: (via: string) => number, outcome: OpenOutcome): () => void;
}
