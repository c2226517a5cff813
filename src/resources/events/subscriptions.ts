import { Type } from 'typebox';

import { text, textFields, withText } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, listIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import type { ResourceContext } from '../resource.ts';
import { rights, tag } from './destinations.ts';
import * as errors from './errors.ts';
import { eventTypes } from './event-types.ts';
import { subscriptionWrites } from './subscription-writes.ts';
import { destinationsPath, eventSubscriptions, subscriptionsPath } from './table.ts';
import type { EventSubscription } from './table.ts';

const mostSources = 200;
const mostDestinations = 10;

const sourceType = text(
  255,
  `Type of events. One of ${eventTypes.map((type) => `\`${type}\``).join(', ')}.`,
  'ip_policy_created.v0',
);
export const EventSource = Type.Object(
  { type: sourceType, uri: Type.String({ description: "URI of this source's resource." }) },
  { $id: 'EventSource' },
);
export const EventSourceCreate = Type.Object(
  { type: sourceType },
  { $id: 'EventSourceCreate', additionalProperties: false },
);
const sources = Type.Array(
  Type.Object({ type: sourceType }, { additionalProperties: false, description: 'One type of events.' }),
  {
    description: 'Types of events that are sent.',
    maxItems: mostSources,
    examples: [[{ type: 'ip_policy_created.v0' }]],
  },
);
const destinationIds = Type.Array(Type.String(), {
  description: 'Ids of the event destinations that get them.',
  maxItems: mostDestinations,
  examples: [['ed_2tQzYDLwIVU45s8sSMNpRfQp1Ng']],
});

export const SubscriptionView = Type.Object(
  {
    ...viewFields('event subscription'),
    sources: Type.Array(Type.Ref('EventSource'), { description: 'Types of events that are sent.' }),
    destinations: Type.Array(Type.Ref('Ref'), { description: 'The event destinations that get them.' }),
  },
  { $id: 'EventSubscription' },
);
export const SubscriptionCreate = Type.Object(
  { ...textFields, sources, destination_ids: destinationIds },
  {
    $id: 'EventSubscriptionCreate',
    additionalProperties: false,
    description: 'Events that happen from now on are sent.',
  },
);
export const SubscriptionUpdate = Type.Object(
  { ...textFields, sources: Type.Optional(sources), destination_ids: Type.Optional(destinationIds) },
  {
    $id: 'EventSubscriptionUpdate',
    additionalProperties: false,
    description:
      'A list replaces the former one; [] keeps it, because official clients send it with every update. A source that is added counts from then on; events of one that is gone are not sent any more.',
  },
);

const writeErrors = [
  errors.unknownEventType,
  errors.decisionsNotKept,
  errors.notADestinationId,
  errors.destinationNotFound,
  duplicateEntry,
];

export function subscriptionOperations(context: ResourceContext): readonly Operation[] {
  const writes = subscriptionWrites(context);
  return crudOperations({
    store: context.store,
    table: eventSubscriptions,
    path: subscriptionsPath,
    noun: 'event subscription',
    plural: 'event subscriptions',
    name: 'EventSubscriptions',
    tag,
    listKey: 'event_subscriptions',
    rights: { read: rights, write: rights },
    filterFields: { ...commonFields, destination_ids: listIn('destination_ids') },
    view: SubscriptionView,
    createBody: SubscriptionCreate,
    updateBody: SubscriptionUpdate,
    errors: { create: writeErrors, update: writeErrors, delete: [] },
    create(transaction, { caller, body }) {
      const first = eventSubscriptions.newDocument(caller.accountId);
      const given = { sources: body.sources.map(({ type }) => type), destination_ids: body.destination_ids };
      return writes.create(transaction, withText({ ...first, ...given }, body));
    },
    update(transaction, { body }, previous) {
      const types = body.sources?.map(({ type }) => type) ?? [];
      const ids = body.destination_ids ?? [];
      const given = {
        ...(types.length > 0 && { sources: types }),
        ...(ids.length > 0 && { destination_ids: ids }),
      };
      return writes.update(transaction, previous, withText({ ...previous, ...given }, body));
    },
    remove: (transaction, _call, subscription) => writes.remove(transaction, subscription),
    present: presentSubscription,
  });
}

function presentSubscription(
  { id, created_at, description, metadata, sources: types, destination_ids: ids }: EventSubscription,
  call: Call,
): object {
  return {
    id,
    uri: call.uri(`${subscriptionsPath}/${id}`),
    created_at,
    description,
    metadata,
    sources: types.map((type) => presentSource(id, type, call)),
    destinations: ids.map((each) => ({ id: each, uri: call.uri(`${destinationsPath}/${each}`) })),
  };
}

export function presentSource(id: string, type: string, { uri }: Call): object {
  return { type, uri: uri(`${subscriptionsPath}/${id}/sources/${type}`) };
}
