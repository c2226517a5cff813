import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import type { Call } from '../../api/call.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { shownId } from '../../api/shown-id.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Queries } from '../../store/database.ts';
import type { ResourceContext } from '../resource.ts';
import { rights, tag } from './destinations.ts';
import * as errors from './errors.ts';
import { subscriptionWrites } from './subscription-writes.ts';
import { EventSourceCreate, presentSource } from './subscriptions.ts';
import { eventSubscriptions, subscriptionsPath } from './table.ts';
import type { EventSubscription } from './table.ts';

export const EventSources = Type.Object(
  {
    sources: Type.Array(Type.Ref('EventSource'), { description: 'All sources of the subscription.' }),
    uri: Type.String({ description: 'URI of this list.' }),
  },
  { $id: 'EventSourceList' },
);
export const EventSourceUpdate = Type.Object(
  {},
  {
    $id: 'EventSourceUpdate',
    additionalProperties: false,
    description: 'A source has nothing that could be changed.',
  },
);

const path = `${subscriptionsPath}/{id}/sources`;
const one = `${path}/{type}`;
const common = { tag, rights } as const;

/** The types of events of one subscription, each as a resource of its own. */
export function sourceOperations(context: ResourceContext): readonly Operation[] {
  const { store } = context;
  const writes = subscriptionWrites(context);
  const change = (call: Call, sourcesOf: (subscription: EventSubscription) => readonly string[]) =>
    store.write(call.actor, async (transaction) => {
      const subscription = await find(transaction, call);
      return writes.update(transaction, subscription, { ...subscription, sources: sourcesOf(subscription) });
    });
  return [
    operation({
      ...common,
      method: 'POST',
      path,
      operationId: 'EventSourcesCreate',
      summary: 'Add a source to an event subscription',
      description: 'One that it has already stays.',
      body: EventSourceCreate,
      status: 201,
      response: Type.Ref('EventSource'),
      errors: [notFound, errors.unknownEventType, errors.decisionsNotKept],
      async handle(call) {
        const { type } = call.body;
        const { id } = await change(call, ({ sources }) => [...new Set([...sources, type])]);
        return presentSource(id, type, call);
      },
    }),
    operation({
      ...common,
      method: 'GET',
      path,
      operationId: 'EventSourcesList',
      summary: 'List sources of an event subscription',
      status: 200,
      response: EventSources,
      errors: [notFound],
      async handle(call) {
        const { id, sources } = await find(store.queries, call);
        return {
          sources: sources.map((type) => presentSource(id, type, call)),
          uri: call.uri(`${subscriptionsPath}/${id}/sources`),
        };
      },
    }),
    operation({
      ...common,
      method: 'GET',
      path: one,
      operationId: 'EventSourcesGet',
      summary: 'Get a source of an event subscription',
      status: 200,
      response: Type.Ref('EventSource'),
      errors: [notFound],
      handle: async (call) => presentSource(...(await findSource(store.queries, call)), call),
    }),
    operation({
      ...common,
      method: 'PATCH',
      path: one,
      operationId: 'EventSourcesUpdate',
      summary: 'Update a source of an event subscription',
      description: 'Changes nothing: official clients have the call.',
      body: EventSourceUpdate,
      status: 200,
      response: Type.Ref('EventSource'),
      errors: [notFound],
      handle: async (call) => presentSource(...(await findSource(store.queries, call)), call),
    }),
    operation({
      ...common,
      method: 'DELETE',
      path: one,
      operationId: 'EventSourcesDelete',
      summary: 'Remove a source from an event subscription',
      status: 204,
      errors: [notFound],
      async handle(call) {
        await change(call, (subscription) => {
          const type = typeIn(subscription, call);
          return subscription.sources.filter((each) => each !== type);
        });
      },
    }),
  ];
}

async function find(queries: Queries, { caller, params }: Call): Promise<EventSubscription> {
  const id = params['id'] ?? '';
  const found = await eventSubscriptions.find(queries, caller.accountId, id);
  if (found === undefined)
    throw new UserError(notFound, { noun: 'event subscription', id: shownId(id, eventSubscriptions.prefix) });
  return found;
}

async function findSource(queries: Queries, call: Call): Promise<readonly [id: string, type: string]> {
  const subscription = await find(queries, call);
  return [subscription.id, typeIn(subscription, call)];
}

function typeIn({ sources }: EventSubscription, { params }: Call): string {
  const type = params['type'] ?? '';
  if (!sources.includes(type)) throw new UserError(notFound, { noun: 'event source', id: quote(type) });
  return type;
}
