import { UserError } from '../../errors/user-error.ts';
import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import type { EndpointScheme } from '../../lib/endpoint-url.ts';
import { buildModules } from '../../modules/index.ts';
import { runSteps } from '../../modules/run-steps.ts';
import type { Position } from '../../modules/run-steps.ts';
import type { ConnectionStep, ConnectionVisit, Forward, Outcome } from '../../modules/step.ts';
import type { InternalEndpointEntry, SetAside } from '../../snapshot/contract.ts';
import { mostHops, offline, tooFar } from '../forwarding/hops.ts';
import { chooseOne } from '../forwarding/internal-names.ts';
import { connectionList } from './connection-list.ts';
import type { ConnectionList } from './connection-list.ts';

/** An internal endpoint that connections are forwarded to. */
export interface InternalTarget {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly scheme: EndpointScheme;
  readonly list: ConnectionList;
  readonly backendId: string | undefined;
  readonly isLoaded: boolean;
}

type Visit = ConnectionVisit & Position;

/** An endpoint that a connection was forwarded to, and its visit there. */
export interface Hop {
  readonly url: string;
  readonly target: InternalTarget;
  readonly visit: Visit;
}

type Rules = Pick<InternalTarget, 'id' | 'accountId' | 'list' | 'backendId'>;

/** What became of a connection at its edge and at the endpoints behind it. */
export interface Passed {
  /** Undefined: every step has let it pass. */
  readonly outcome: Exclude<Outcome, Forward> | undefined;
  /** Name of the module that has spoken. */
  readonly module: string | undefined;
  readonly hops: readonly Hop[];
  readonly backendId: string | undefined;
}

interface Parts {
  find(this: void, accountId: string, url: string): readonly InternalTarget[];
  visitAt(this: void, target: InternalTarget): Visit;
}

export function loadTarget(entry: InternalEndpointEntry, setAside: SetAside): InternalTarget {
  const { id, accountId, url, modules } = entry;
  const read = readEndpointUrl(url);
  const known = { id, accountId, url, scheme: read.ok ? read.url.scheme : 'tcp' } as const;
  try {
    const { shared, backendId } = buildModules(modules);
    const list = connectionList(shared);
    if (list.clientCa !== undefined) throw new Error('TLS does not end at an internal endpoint');
    return { ...known, list, backendId, isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return { ...known, list: connectionList(buildModules({}).shared), backendId: undefined, isLoaded: false };
  }
}

/** Runs the steps of an edge for a connection, and those of the internal endpoints that it is forwarded to. */
export function goThrough(visit: Visit, rules: Rules, { find, visitAt }: Parts): Passed {
  const hops: Hop[] = [];
  let [at, here] = [visit, rules];
  for (;;) {
    const { accept, moduleOf } = here.list;
    const { outcome, forward } = runList(at, accept, (forwarded) => whyNot(forwarded, here.accountId, hops, find));
    const { backendId } = here;
    if (outcome !== undefined) return { outcome, module: moduleOf.get(accept[at.at]!), hops, backendId };
    if (forward === undefined) return { outcome, module: undefined, hops, backendId };
    const target = chooseOne(find(here.accountId, forward.url));
    if (target?.isLoaded !== true || hops.length >= mostHops)
      return { outcome, module: undefined, hops, backendId: undefined };
    [at, here] = [visitAt(target), target];
    hops.push({ url: forward.url, target, visit: at });
  }
}

/** Runs all steps, also those behind one that forwards the connection. */
function runList(
  visit: Visit,
  steps: readonly ConnectionStep[],
  whyNotTo: (forward: Forward) => UserError | undefined,
): { readonly outcome: Exclude<Outcome, Forward> | undefined; readonly forward: Forward | undefined } {
  let forward: Forward | undefined;
  for (;;) {
    const outcome = runSteps(steps, visit);
    if (outcome === undefined || outcome instanceof UserError || outcome.kind !== 'forward')
      return { outcome, forward };
    const fault = outcome.onError === undefined ? undefined : whyNotTo(outcome);
    if (fault === undefined) {
      forward = outcome;
      visit.at += 1;
    } else {
      outcome.onError?.(fault.code, fault.message);
    }
  }
}

function whyNot({ url }: Forward, accountId: string, hops: readonly Hop[], find: Parts['find']): UserError | undefined {
  if (hops.length >= mostHops) return tooFar();
  return find(accountId, url).length === 0 ? offline() : undefined;
}
