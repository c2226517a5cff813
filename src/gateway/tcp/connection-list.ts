import type { SharedModules } from '../../modules/index.ts';
import { handshakeRules, ofConnection } from '../../modules/run-steps.ts';
import type { HandshakeRules } from '../../modules/run-steps.ts';
import type { ConnectionStep } from '../../modules/step.ts';

/** All that happens to the connections of an edge, in order, and what must be known of it before one comes. */
export interface ConnectionList extends HandshakeRules {
  /** Run when a client comes. */
  readonly accept: readonly ConnectionStep[];
  /** Run once TLS has ended here. */
  readonly secure: readonly ConnectionStep[];
  readonly moduleOf: ReadonlyMap<object, string>;
  /** True: open connections are asked again when a secret in a vault changes. */
  readonly readsVaults: boolean;
}

/** Edges whose modules are the same have one list. */
const lists = new WeakMap<SharedModules, ConnectionList>();

export function connectionList(shared: SharedModules): ConnectionList {
  const { steps, moduleOf } = shared;
  const list = lists.get(shared) ?? {
    accept: ofConnection(steps, 'connection'),
    secure: ofConnection(steps, 'handshake'),
    moduleOf,
    ...handshakeRules(steps),
    readsVaults: steps.some(({ readsVaults }) => readsVaults === true),
  };
  lists.set(shared, list);
  return list;
}
