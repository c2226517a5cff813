import type { Listener } from '../../snapshot/contract.ts';
import { serviceKey } from '../services.ts';

/** The processes of the installation that run now. */
export interface Processes {
  /**
   * Makes the listeners of this process known to all others, and keeps them known until it is disposed of. Resolves when
   * gateways that run can be taken to know them: a process is to register before it listens.
   */
  register(listeners: readonly Listener[]): Promise<Registration>;
}

export interface Registration extends AsyncDisposable {
  /** Replaces the listeners, once the system has chosen their ports. */
  update(listeners: readonly Listener[]): Promise<void>;
}

export const processes = serviceKey<Processes>('processes');
