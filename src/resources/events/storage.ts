import { createHash } from 'node:crypto';

import type { EventTarget, OutgoingEvent, Place } from '../../events/event.ts';
import { LeaseLostError } from '../../events/storage.ts';
import type { Delivery, Destination, EventStorage, Progress } from '../../events/storage.ts';
import { idOfHash, toTimestamp } from '../../lib/ids.ts';
import type { Row } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import { loggedChanges } from '../changes/service.ts';
import { holdsLease, releaseLease, takeLease } from '../lease.ts';
import type { ResourceContext } from '../resource.ts';
import { typeOfChange } from './event-types.ts';
import { shortEvent } from './short-event.ts';
import { titleOf } from './title.ts';
import { TrafficEvents } from './traffic-events.ts';
import { isTrafficType, lastPosition } from './traffic-types.ts';
import { eventDestinations, eventSubscriptions, leaseTable } from './table.ts';
import type { EventSubscription } from './table.ts';
import { openTarget } from './target.ts';

export const destinationKind = eventDestinations.kind;
/** Destinations of one statement. */
const destinationsAtOnce = 500;
/** Changes of the log that one look goes through. */
const changesInLook = 500;
/** Events of one delivery that are kept once they were given up; beyond it the oldest go. */
const keptEvents = 1_000;
/** A place among decisions that is so old is none: the gateway is gone, or had nothing for as long. */
const forgetMs = 60 * 86_400_000;

const deliveriesSql = `SELECT subscription_id, account_id, source, version, position, failures, failing_since, retries_at, error, sent_at, lost
  FROM event_deliveries WHERE destination_id = $1 ORDER BY subscription_id, source`;
const integers = ['$4', '$5', '$6', '$11'].map((place) => `CAST(${place} AS BIGINT)`);
const texts = ['$3', '$7', '$8', '$9', '$10'].map((place) => `CAST(${place} AS TEXT)`);
/** A source gets a row of its own when something of it is first noted. */
const saveSql = `INSERT INTO event_deliveries (subscription_id, destination_id, account_id,
    version, position, failures, lost, source, failing_since, retries_at, error, sent_at)
  SELECT subscription_id, destination_id, account_id, ${[...integers, ...texts].join(', ')} FROM event_deliveries
  WHERE subscription_id = $1 AND destination_id = $2 AND source = ''
  ON CONFLICT (destination_id, subscription_id, source) DO UPDATE SET version = excluded.version, position = excluded.position,
    failures = excluded.failures, failing_since = excluded.failing_since, retries_at = excluded.retries_at,
    error = excluded.error, sent_at = excluded.sent_at, lost = event_deliveries.lost + excluded.lost`;
const one = 'subscription_id = $1 AND destination_id = $2 AND source = $3';

export function createEventStorage(
  context: Pick<ResourceContext, 'store' | 'sealer' | 'services' | 'settings'>,
): EventStorage {
  const { store, services } = context;
  const log = () => services.get(loggedChanges);
  const traffic = new TrafficEvents(services);
  return {
    async takeLease(holder, leaseMs) {
      const taken = await takeLease(store, leaseTable, holder, leaseMs);
      if (taken === 'taken') await forgetSources(store);
      return taken;
    },
    releaseLease: async (holder) => {
      await releaseLease(store, leaseTable, holder);
    },
    hasDeliveries: async () => (await store.queries.all('SELECT 1 FROM event_deliveries LIMIT 1')).length > 0,
    async destinations(afterId, accountId) {
      const ofOne = accountId === undefined ? '' : 'AND account_id = $2';
      const sql = `SELECT DISTINCT destination_id, account_id FROM event_deliveries WHERE destination_id > $1 ${ofOne}
        ORDER BY destination_id LIMIT ${destinationsAtOnce}`;
      const rows = await store.queries.all(sql, accountId === undefined ? [afterId] : [afterId, accountId]);
      return rows.map(([id, account]) => ({ id: String(id), accountId: String(account) }));
    },
    load: (id) => load(context, traffic, id),
    async next(delivery, from, most) {
      const { accountId, source, types } = delivery;
      if (source !== '') return traffic.next(delivery, from, most);
      const heads = await log().after(store.queries, accountId, from, changesInLook);
      const found: Place[] = [];
      let seen = from;
      for (const { place, kind, action } of heads) {
        if (found.length === most) break;
        seen = place;
        const since = types.get(typeOfChange(kind, action));
        if (since !== undefined && place.version > since) found.push(place);
      }
      const isEnd = heads.length < changesInLook && seen === (heads.at(-1)?.place ?? from);
      const oldest = await log().oldest(store.queries);
      return { found, seen, isEnd, isCut: oldest !== undefined && oldest > from.version + 1 && heads.length > 0 };
    },
    async againOf({ subscriptionId, destinationId, source }, most) {
      const sql = `SELECT version, position FROM undelivered_events WHERE ${one} AND again = 1
        ORDER BY version, position LIMIT ${most}`;
      const rows = await store.queries.all(sql, [subscriptionId, destinationId, source]);
      return rows.map(([version, position]) => ({ version: Number(version), position: Number(position) }));
    },
    read: (delivery, place) =>
      delivery.source === '' ? readEvent(context, delivery.accountId, place) : traffic.read(delivery, place),
    save: (holder, delivery, progress) =>
      store.writeUnlogged(async (writer) => {
        if (!(await holdsLease(writer, leaseTable, holder))) throw new LeaseLostError('another process sends events');
        return save(writer, delivery, progress);
      }, delivery.accountId),
  };
}

/** The target of a destination of the account, with its secrets. */
export async function readTarget(
  { store, sealer, settings }: Pick<ResourceContext, 'store' | 'sealer' | 'settings'>,
  accountId: string,
  id: string,
): Promise<EventTarget | undefined> {
  if (!eventDestinations.mayHave(id)) return undefined;
  const sql = 'SELECT document, sealed_secrets FROM event_destinations WHERE id = $1 AND account_id = $2';
  const [row] = await store.queries.all(sql, [id, accountId]);
  if (row === undefined) return undefined;
  return openTarget(eventDestinations.parse(row).target, sealer.open(String(row[1]), id), settings.events);
}

async function load(
  { store, sealer, settings }: Pick<ResourceContext, 'store' | 'sealer' | 'settings'>,
  traffic: TrafficEvents,
  id: string,
): Promise<Destination | undefined> {
  const rows = await store.queries.all(deliveriesSql, [id]);
  const [row] = await store.queries.all('SELECT document, sealed_secrets FROM event_destinations WHERE id = $1', [id]);
  if (row === undefined || rows.length === 0) return undefined;
  const { account_id: accountId, target } = eventDestinations.parse(row);
  const secrets = sealer.open(String(row[1]), id);
  const subscriptions = await eventSubscriptions.loadMany(
    store.queries,
    rows.map(([subscriptionId]) => String(subscriptionId)),
  );
  const typesOf = new Map(subscriptions.map((each) => [each.id, typesOfSubscription(each)]));
  const known = rows.map((each): Delivery => {
    const { traffic: ofTraffic, changes } = typesOf.get(String(each[0])) ?? noTypes;
    return toDelivery(id, each, each[2] === '' ? changes : ofTraffic);
  });
  return {
    accountId,
    target: openTarget(target, secrets, settings.events),
    deliveries: [...known, ...(await newDeliveries(traffic, known, typesOf))],
  };
}

interface TypesOfSubscription {
  readonly changes: Delivery['types'];
  readonly traffic: Delivery['types'];
}

const noTypes: TypesOfSubscription = { changes: new Map(), traffic: new Map() };

function typesOfSubscription({ sources, since }: EventSubscription): TypesOfSubscription {
  const of = (isOf: (type: string) => boolean): Delivery['types'] =>
    new Map(sources.filter(isOf).map((type) => [type, since?.[type] ?? 0]));
  return { changes: of((type) => !isTrafficType(type)), traffic: of(isTrafficType) };
}

/** Deliveries of what gateways keep of which nothing was noted yet. */
async function newDeliveries(
  traffic: TrafficEvents,
  known: readonly Delivery[],
  typesOf: ReadonlyMap<string, TypesOfSubscription>,
): Promise<readonly Delivery[]> {
  const keys = new Set(known.map(({ subscriptionId, source }) => `${subscriptionId} ${source}`));
  const wanting = known.flatMap((each) => {
    const types = typesOf.get(each.subscriptionId)?.traffic ?? noTypes.traffic;
    return each.source === '' && types.size > 0 ? [{ ...each, types }] : [];
  });
  if (wanting.length === 0) return [];
  const gateways = [...(await traffic.gateways()).keys()];
  return wanting.flatMap((each) =>
    gateways
      .filter((source) => !keys.has(`${each.subscriptionId} ${source}`))
      .map((source): Delivery => {
        const since = Math.max(Math.min(...each.types.values()), oldestPlace());
        return { ...each, source, state: { place: { version: since, position: lastPosition }, failures: 0, lost: 0 } };
      }),
  );
}

/** Numbers of decisions are microseconds since 1970. */
function oldestPlace(): number {
  return (Date.now() - forgetMs) * 1000;
}

async function forgetSources(store: ResourceContext['store']): Promise<void> {
  await store.writeUnlogged(async (writer) => {
    await writer.run("DELETE FROM event_deliveries WHERE source <> '' AND version < $1", [oldestPlace()]);
  });
}

function toDelivery(destinationId: string, row: Row, types: Delivery['types']): Delivery {
  const [subscriptionId, accountId, source, version, position, failures, failingSince, retriesAt, error, sentAt] = row;
  const textOf = (value: Row[number] | undefined) => (typeof value === 'string' ? value : undefined);
  return {
    subscriptionId: String(subscriptionId),
    destinationId,
    accountId: String(accountId),
    source: String(source),
    types,
    state: {
      place: { version: Number(version), position: Number(position) },
      failures: Number(failures),
      failingSince: textOf(failingSince),
      retriesAt: textOf(retriesAt),
      error: textOf(error),
      sentAt: textOf(sentAt),
      lost: 0,
    },
  };
}

async function readEvent(
  { store, services }: Pick<ResourceContext, 'store' | 'services'>,
  accountId: string,
  place: Place,
): Promise<OutgoingEvent | undefined> {
  const read = await services.get(loggedChanges).read(store.queries, accountId, place);
  if (read === undefined) return undefined;
  const { kind, at, mark, document, before, isWhole, change, action } = read;
  const hash = createHash('sha256').update(`${mark} ${place.version} ${place.position}`).digest();
  const id = idOfHash('ev', Date.parse(at), hash);
  const type = typeOfChange(kind, action);
  const head = { event_id: id, event_type: type, event_timestamp: at, account_id: accountId };
  const body = JSON.stringify({
    ...head,
    object: document,
    ...(!isWhole && { truncated: true }),
    change: { ...change, before },
  });
  const shortBody = shortEvent(body, { ...head, object: idOf(document), truncated: true, change });
  return { id, type, at, accountId, body, shortBody, title: titleOf(type, document) };
}

function idOf(document: object): object {
  return 'id' in document ? { id: document.id } : {};
}

async function save(
  writer: ObservationWriter,
  { subscriptionId, destinationId, accountId, source }: Delivery,
  { state, givenUp, sentAgain }: Progress,
): Promise<boolean> {
  const key = [subscriptionId, destinationId, source];
  const { place, failures, failingSince = null, retriesAt = null, error = null, sentAt = null, lost } = state;
  const dropped = givenUp === undefined ? 0 : await keep(writer, key, accountId, givenUp);
  const values = [place.version, place.position, failures, failingSince, retriesAt, error, sentAt, lost + dropped];
  const isThere = (await writer.run(saveSql, [...key, ...values])) > 0;
  for (const { version, position } of sentAgain ?? []) {
    const sql = `DELETE FROM undelivered_events WHERE ${one} AND version = $4 AND position = $5`;
    await writer.run(sql, [...key, version, position]);
  }
  return isThere;
}

/** Keeps an event that was given up. Returns how many older ones went for it. */
async function keep(
  writer: ObservationWriter,
  key: readonly string[],
  accountId: string,
  { place, reason }: NonNullable<Progress['givenUp']>,
): Promise<number> {
  await writer.run(
    `INSERT INTO undelivered_events
       (subscription_id, destination_id, source, version, position, account_id, given_up_at, error, again)
     SELECT subscription_id, destination_id, CAST($3 AS TEXT), $4, $5, $6, $7, $8, 0 FROM event_deliveries
     WHERE subscription_id = $1 AND destination_id = $2 AND source = ''
     ON CONFLICT (destination_id, subscription_id, source, version, position)
     DO UPDATE SET given_up_at = excluded.given_up_at, error = excluded.error, again = 0`,
    [...key, place.version, place.position, accountId, toTimestamp(Date.now()), reason],
  );
  const [first] = await writer.all(
    `SELECT version, position FROM undelivered_events WHERE ${one}
     ORDER BY version DESC, position DESC LIMIT 1 OFFSET ${keptEvents}`,
    key,
  );
  if (first === undefined) return 0;
  const [version = null, position = null] = first;
  return writer.run(`DELETE FROM undelivered_events WHERE ${one} AND (version, position) <= ($4, $5)`, [
    ...key,
    version,
    position,
  ]);
}
