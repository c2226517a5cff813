import type { AttackName, AttackTarget } from './attacks.ts';

/** Pieces in which bytes leave: as they are, each in a TLS record of its own, or each in a segment of its own. */
export type Pieces = 'whole' | 'records' | 'segments';

/** Order to the program that attacks, which then says "ready", and begins at "go". */
export interface AttackOrder {
  readonly attack: AttackName | 'agent-frames';
  readonly target: AttackTarget;
  readonly port: number;
  /** Protocol that TLS offers; without it the connection is plain. */
  readonly alpn?: string;
  readonly pieces: Pieces;
  readonly connections: number;
  /** Bytes on the wire, of all connections. */
  readonly bytesPerSecond: number;
  /** Time for which pieces are made beforehand. */
  readonly seconds: number;
  /** Access of agents, where they attack. */
  readonly agent?: { readonly ca: string; readonly token: string };
}

/** Answer to "count". */
export interface AttackCount {
  readonly bytes: number;
  /** Number of connections that the server closed. */
  readonly closed: number;
}

/** Order to the program that visits as neighbours do, answered with what they noticed. */
export interface VisitOrder {
  readonly edge: { readonly port: number; readonly host: string };
  readonly api?: { readonly port: number; readonly path: string; readonly headers: Readonly<Record<string, string>> };
  readonly seconds: number;
}

export interface Noticed {
  /** Milliseconds from when each visit was due to its answer; those without one count until now. */
  readonly edgeMs: readonly number[];
  readonly apiMs: readonly number[];
}
