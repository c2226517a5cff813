import { useSyncExternalStore } from 'react';

import { askBuild } from './server-build.ts';

/** Since when the server has not answered, and when it last did: what is shown is of that time. */
export interface Lost {
  readonly sinceMs: number;
  readonly lastAnswerMs: number;
}

let lost: Lost | undefined;
let lastAnswerMs = Date.now();
let isAsking = false;
const listeners = new Set<() => void>();

function setLost(next: Lost | undefined): void {
  lost = next;
  for (const listener of listeners) listener();
}

/** Undefined while the server answers. */
export function useLost(): Lost | undefined {
  return useSyncExternalStore(onConnection, () => lost);
}

/** Calls whenever the server is lost or is back. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function isLost(): boolean {
  return lost !== undefined;
}

function noteAnswer(): void {
  lastAnswerMs = Date.now();
  if (lost !== undefined) setLost(undefined);
}

/** A call got no answer. One may break off by itself: the server is lost if it does not answer another one either. */
export async function noteNoAnswer(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  const sinceMs = lost?.sinceMs ?? Date.now();
  const build = await askBuild();
  isAsking = false;
  if (build === 'no answer') setLost({ sinceMs, lastAnswerMs: lost?.lastAnswerMs ?? lastAnswerMs });
  else noteAnswer();
}

/** `fetch` of the server that the page came from. */
export async function fetchFromServer(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  try {
    const response = await fetch(input, init);
    noteAnswer();
    return response;
  } catch (error) {
    // A call that the page itself has ended says nothing.
    if (init.signal?.aborted !== true) void noteNoAnswer();
    throw error;
  }
}
