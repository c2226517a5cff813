import { duplicateEntry } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { loggedChanges } from '../changes/service.ts';
import { keptDecisions } from '../decisions/service.ts';
import { processes } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { eventTypes, isEventType } from './event-types.ts';
import { eventSubscriptions } from './table.ts';
import type { EventSubscription } from './table.ts';
import { isTrafficType } from './traffic-types.ts';

const kind = 'event_destination';
const addSql = `INSERT INTO event_deliveries
  (subscription_id, destination_id, account_id, version, position, failures, lost) VALUES ($1, $2, $3, $4, $5, 0, 0)`;

export function subscriptionWrites({ referables, services }: Pick<ResourceContext, 'referables' | 'services'>) {
  /** Events from now on are sent. */
  const addDeliveries = async (
    transaction: Transaction,
    { id, account_id }: EventSubscription,
    added: readonly string[],
  ) => {
    const { version, position } = await services.get(loggedChanges).now(transaction);
    for (const each of added) await transaction.run(addSql, [id, each, account_id, version, position]);
  };
  const checkDestinations = async (
    transaction: Transaction,
    { account_id, destination_ids: ids }: EventSubscription,
  ) => {
    referables.check(kind, 'destination_ids', ids, (id) => new UserError(errors.notADestinationId, { id: quote(id) }));
    for (const id of ids)
      if (!(await referables.exists(transaction, kind, account_id, id)))
        throw new UserError(errors.destinationNotFound, { id });
  };
  /** Events of traffic are made of decisions that gateways keep. */
  const checkKept = async (transaction: Transaction, added: readonly string[]) => {
    const type = added.find(isTrafficType);
    if (type === undefined) return;
    const running = await services.get(processes).list(transaction);
    const isKept =
      services.find(keptDecisions) !== undefined || running.some(({ status }) => status?.decisions !== undefined);
    if (!isKept) throw new UserError(errors.decisionsNotKept, { type });
  };
  return {
    async create(transaction: Transaction, subscription: EventSubscription): Promise<EventSubscription> {
      checkSources(subscription.sources);
      await checkKept(transaction, subscription.sources);
      await checkDestinations(transaction, subscription);
      const inserted = withSince(subscription.sources.filter(isChangeType), subscription, 0);
      await eventSubscriptions.insert(transaction, inserted);
      await referables.set(transaction, kind, subscription.id, subscription.destination_ids, { isNew: true });
      await addDeliveries(transaction, subscription, subscription.destination_ids);
      return inserted;
    },
    async update(
      transaction: Transaction,
      previous: EventSubscription,
      subscription: EventSubscription,
    ): Promise<EventSubscription> {
      checkSources(subscription.sources);
      await checkKept(
        transaction,
        subscription.sources.filter((type) => !previous.sources.includes(type)),
      );
      const [before, after] = [new Set(previous.destination_ids), new Set(subscription.destination_ids)];
      await checkDestinations(transaction, subscription);
      const added = [...after].filter((id) => !before.has(id));
      const removed = [...before].filter((id) => !after.has(id));
      if (added.length + removed.length > 0) {
        await referables.set(transaction, kind, subscription.id, subscription.destination_ids);
        for (const id of removed) await removeDeliveries(transaction, subscription.id, id);
        await addDeliveries(transaction, subscription, added);
      }
      const { version } = await services.get(loggedChanges).now(transaction);
      return eventSubscriptions.update(transaction, previous, withSince(previous.sources, subscription, version));
    },
    async remove(transaction: Transaction, subscription: EventSubscription): Promise<void> {
      const { id, destination_ids: ids } = subscription;
      await referables.set(transaction, kind, id, []);
      for (const each of ids) await removeDeliveries(transaction, id, each);
      await eventSubscriptions.delete(transaction, subscription);
    },
  };
}

function isChangeType(type: string): boolean {
  return !isTrafficType(type);
}

/** The log has changes from before a type was added, which nobody asked for: how far a delivery has got is not noted at each of them. */
function withSince(known: readonly string[], subscription: EventSubscription, version: number): EventSubscription {
  const { since: former = {}, ...rest } = subscription;
  const before = new Set(known);
  // Decisions are numbered by microseconds since 1970.
  const now = Date.now() * 1000;
  const since = rest.sources.flatMap((type) => {
    const from = before.has(type) ? former[type] : isTrafficType(type) ? now : version;
    return from === undefined ? [] : [[type, from] as const];
  });
  return since.length === 0 ? rest : { ...rest, since: Object.fromEntries(since) };
}

async function removeDeliveries(transaction: Transaction, subscriptionId: string, destinationId: string) {
  for (const table of ['undelivered_events', 'event_deliveries'])
    await transaction.run(`DELETE FROM ${table} WHERE subscription_id = $1 AND destination_id = $2`, [
      subscriptionId,
      destinationId,
    ]);
}

function checkSources(types: readonly string[]): void {
  const seen = new Set<string>();
  for (const type of types) {
    if (!isEventType(type)) {
      const meant = nearestName(type, eventTypes);
      const remedy = meant === undefined ? '' : `; did you mean ${meant}?`;
      throw new UserError(errors.unknownEventType, { type: quote(type), remedy });
    }
    if (seen.has(type)) throw new UserError(duplicateEntry, { field: 'sources', id: type });
    seen.add(type);
  }
}
