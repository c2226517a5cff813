import { readFileSync } from 'node:fs';

import type { GatewayBounds } from './bound.ts';

/** The limit assumed where the system does not tell: the least that is usual. */
const assumedFiles = 1024;
/** More descriptors than this change nothing: memory is the next limit, at 50 to 100 kB for each TLS connection. */
const usedFiles = 80_000;
/** Descriptors left to the API, the database, files, name resolution and the listeners. */
const leastReserve = 256;

type ConnectionBounds = Pick<
  GatewayBounds,
  | 'clientConnections'
  | 'sourceConnections'
  | 'upstreamConnections'
  | 'accountConnections'
  | 'backendConnections'
  | 'backendSourceConnections'
>;

/** Undefined: by default. */
type ChosenBounds = { readonly [Name in keyof ConnectionBounds]: number | undefined };

/**
 * Fills in the bounds that are not chosen, so that descriptors are left whatever clients do. An eighth of them is the
 * reserve; clients and upstreams have the same share of the rest, since a busy client needs one of each. No source and no
 * backend has more than a quarter of its share, no account more than half, and no source more than a quarter of a backend.
 */
export function connectionBounds(chosen: ChosenBounds, openFiles: number): ConnectionBounds {
  const files = Math.min(openFiles, usedFiles);
  const share = Math.max(4, Math.floor((files - reservedFiles(openFiles)) / 2));
  const { clientConnections = share, upstreamConnections = share } = chosen;
  const { backendConnections = Math.ceil(upstreamConnections / 4) } = chosen;
  return {
    clientConnections,
    sourceConnections: chosen.sourceConnections ?? Math.ceil(clientConnections / 4),
    upstreamConnections,
    accountConnections: chosen.accountConnections ?? Math.ceil(upstreamConnections / 2),
    backendConnections,
    backendSourceConnections: chosen.backendSourceConnections ?? Math.ceil(backendConnections / 4),
  };
}

/** Descriptors that traffic leaves. */
export function reservedFiles(openFiles: number): number {
  const files = Math.min(openFiles, usedFiles);
  return Math.min(Math.max(leastReserve, files / 8), files / 2);
}

/** Reads the limit of open files of this process. Node has raised it as far as it may at its start. */
export function readOpenFilesLimit(path = '/proc/self/limits'): number {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return assumedFiles;
  }
  const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(text) ?? [];
  if (soft === 'unlimited') return usedFiles;
  return soft === undefined ? assumedFiles : Number(soft);
}
