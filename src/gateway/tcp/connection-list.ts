import type { SharedModules } from '../../modules/index.ts';
import { ofConnection } from '../../modules/run-steps.ts';
import type { ConnectionStep, TlsTerms } from '../../modules/step.ts';

/** All that happens to the connections of an edge, in order, and what must be known of it before one comes. */
export interface ConnectionList {
  /** Run when a client comes. */
  readonly accept: readonly ConnectionStep[];
  /** Run once TLS has ended here. */
  readonly secure: readonly ConnectionStep[];
  readonly moduleOf: ReadonlyMap<object, string>;
  readonly clientCa: string | undefined;
  readonly needsTls13: boolean;
  /** True: open connections are asked again when a secret in a vault changes. */
  readonly readsVaults: boolean;
  /** Undefined: the rules do not say how TLS ends. */
  readonly tlsTerms: TlsTerms | undefined;
}

/** Edges whose modules are the same have one list. */
const lists = new WeakMap<SharedModules, ConnectionList>();

export function connectionList(shared: SharedModules): ConnectionList {
  const { steps, moduleOf } = shared;
  const list = lists.get(shared) ?? {
    accept: ofConnection(steps, 'connection'),
    secure: ofConnection(steps, 'handshake'),
    moduleOf,
    clientCa: steps.find(({ clientCa }) => clientCa !== undefined)?.clientCa,
    needsTls13: steps.some(({ needsTls13 }) => needsTls13 === true),
    readsVaults: steps.some(({ readsVaults }) => readsVaults === true),
    tlsTerms: steps.find(({ terminatesTls }) => terminatesTls !== undefined)?.terminatesTls,
  };
  lists.set(shared, list);
  return list;
}
