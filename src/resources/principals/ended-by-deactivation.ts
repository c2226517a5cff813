import type { Transaction } from '../../store/write/transaction.ts';
import type { ResourceContext } from '../resource.ts';
import { endedByDeactivation } from './service.ts';

interface Deactivatable {
  readonly id: string;
  readonly active: boolean;
}

/** Deletes what was only refused while somebody was not active, so that it does not come back with them. */
export async function endWhatStaysEnded(
  transaction: Transaction,
  services: ResourceContext['services'],
  before: Deactivatable,
  after: Deactivatable,
): Promise<void> {
  if (before.active || !after.active) return;
  for (const each of services.all(endedByDeactivation)) await each.deleteOf(transaction, after.id);
}
