import { operations } from '../../../../client/src/index.ts';
import type { CallInput, OperationId, RehearsalRequest } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { proveEntries } from './rehearse-entries.ts';
import type { Wanted } from './rehearse-entries.ts';
import type { Rehearsal } from './rehearsal.ts';

/** The call that would save a change. */
export type TriedCall = RehearsalRequest;

/** Tries a change without saving it: on the visitors of the kept days, and for all addresses where it is given as entries. */
export async function rehearse(
  call: TriedCall,
  signal: AbortSignal,
  wanted: readonly Wanted[] = [],
): Promise<Rehearsal> {
  const [visits, admitsNew] = await Promise.all([
    tryOnVisits(call, signal),
    wanted.length === 0 ? undefined : proveEntries(wanted, signal),
  ]);
  return { visits, admitsNew };
}

async function tryOnVisits(call: TriedCall, signal: AbortSignal): Promise<Rehearsal['visits']> {
  const visits = await client.call('RehearsalsCreate', { body: call, signal });
  return visits.is_kept ? visits : 'not_kept';
}

/** A call of an operation, as it would be sent. */
export function callOf<Id extends OperationId>(id: Id, input: CallInput<Id>): TriedCall {
  // Only writes are tried.
  const { method, path } = operations[id] as { readonly method: TriedCall['method']; readonly path: string };
  // Ids of the path, and the body, are those of the operation.
  const { path: ids = {}, body } = input as { readonly path?: Record<string, string>; readonly body?: unknown };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''));
  return { method, path: filled, ...(body === undefined ? {} : { body }) };
}
