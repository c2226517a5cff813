import { createHash } from 'node:crypto';

import { UserError } from '../../../errors/user-error.ts';
import { BoundedCache } from '../../../lib/bounded-cache.ts';
import { finishInTurns, finishNow } from '../../../lib/steps.ts';
import type { Steps } from '../../../lib/steps.ts';
import { knowsPlaces } from '../../places.ts';
import { requestHostsVersion } from '../../request-hosts.ts';
import { policySteps } from './read-policy.ts';
import type { Policy } from './read-policy.ts';

/** A policy, or what is wrong with its text. */
type Reading = Policy | UserError;

/** What was read last: policies are read when they are written, and again when they are put in force. */
const latest = new BoundedCache<string, Reading>(50);
/** Longer ones may take some megabytes each. */
const usualLength = 16_384;
const latestLong = new BoundedCache<string, Reading>(4);

/** All that something still uses: a text that many things have is built once. */
const live = new Map<string, WeakRef<Reading>>();
const gone = new FinalizationRegistry((key: string) => {
  if (live.get(key)?.deref() === undefined) live.delete(key);
});

/** Reads the text of a policy, at once where nobody uses it and it was not prepared. Throws `UserError`. */
export function readPolicy(text: string): Policy {
  const policy = readStoredPolicy(text);
  if (policy.refusals.places !== undefined) throw policy.refusals.places;
  return policy;
}

/** Reads a policy that is to be stored, which asks no servers but those that the operator has named. Throws `UserError`. */
export function acceptPolicy(text: string): Policy {
  const policy = readPolicy(text);
  if (policy.refusals.servers !== undefined) throw policy.refusals.servers;
  return policy;
}

/** Reads a policy that was accepted before, whatever the operator's settings are by now. Throws `UserError`. */
export function readStoredPolicy(text: string): Policy {
  const { key, place } = placeOf(text);
  return orThrow(find(place, text) ?? keep(place, text, finishNow(reading(key, text))));
}

/**
 * Reads the text of a policy in slices, since long ones take some hundred milliseconds. As long as what it returns is kept, the functions
 * above find it. A text that is refused is kept too.
 */
export async function preparePolicy(text: string): Promise<Reading> {
  const { key, place } = placeOf(text);
  return find(place, text) ?? keep(place, text, await finishInTurns(reading(key, text)));
}

/** The hash of a text, and where what was read of it is kept: why it is refused depends on settings too. */
function placeOf(text: string): { readonly key: string; readonly place: string } {
  const key = createHash('sha256').update(text).digest('base64');
  return { key, place: `${knowsPlaces()} ${requestHostsVersion()} ${key}` };
}

function orThrow(read: Reading): Policy {
  if (read instanceof UserError) throw read;
  return read;
}

function* reading(key: string, text: string): Steps<Reading> {
  try {
    return { key, ...(yield* policySteps(text)) };
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function find(key: string, text: string): Reading | undefined {
  return latestOf(text).get(key) ?? live.get(key)?.deref();
}

function keep(key: string, text: string, made: Reading): Reading {
  // Somebody else may have read it meanwhile.
  const read = live.get(key)?.deref() ?? made;
  if (read === made) {
    live.set(key, new WeakRef(read));
    gone.register(read, key);
  }
  const cache = latestOf(text);
  cache.set(key, read);
  return read;
}

function latestOf({ length }: string): typeof latest {
  return length > usualLength ? latestLong : latest;
}
