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
  /**
   * True while the others may have taken this process for gone, because it stood still: its listeners are not guarded then,
   * and must serve nobody until it is registered again.
   */
  readonly isLapsed: boolean;
  /** Replaces the listeners, once the system has chosen their ports. */
  update(listeners: readonly Listener[]): Promise<void>;
}

export const processes = serviceKey<Processes>('processes');
