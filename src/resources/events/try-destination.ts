import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { nullable } from '../../api/body/view-fields.ts';
import { shownId } from '../../api/shown-id.ts';
import { UserError } from '../../errors/user-error.ts';
import type { OutgoingEvent } from '../../events/event.ts';
import { newIdWithTime } from '../../lib/ids.ts';
import type { ResourceContext } from '../resource.ts';
import { rights, tag } from './destinations.ts';
import { eventSend } from './service.ts';
import { readTarget } from './storage.ts';
import { destinationsPath, eventDestinations } from './table.ts';

export const Tried = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the test event has arrived.' }),
    error: nullable('string', 'Why it did not arrive, or not for everybody; null if nothing is wrong.'),
  },
  { $id: 'EventDestinationTest' },
);

/** Sends a test event, past all that waits, and says what became of it. */
export function tryOperation(context: ResourceContext): Operation {
  const { services } = context;
  return operation({
    method: 'POST',
    path: `${destinationsPath}/{id}/test`,
    operationId: 'EventDestinationsTest',
    summary: 'Send a test event',
    description:
      'Sends an event of the type `test.v0` to the destination at once, whatever waits there, and answers when it has arrived or has not, after ten seconds at most. It is not repeated.',
    tag,
    rights,
    ignoresOtherBodies: true,
    status: 200,
    response: Tried,
    errors: [notFound],
    async handle({ caller: { accountId }, params }) {
      const id = params['id'] ?? '';
      const target = await readTarget(context, accountId, id);
      if (target === undefined)
        throw new UserError(notFound, { noun: 'event destination', id: shownId(id, eventDestinations.prefix) });
      const outcome = await services.get(eventSend)(accountId, target, [testEvent(accountId, id)], neverEnded);
      if (outcome.kind === 'sent') return { delivered: true, error: outcome.remark ?? null };
      return { delivered: false, error: outcome.reason };
    },
  });
}

/** The attempt ends by itself. */
const neverEnded = new AbortController().signal;

function testEvent(accountId: string, destination: string): OutgoingEvent {
  const { id, createdAt: at } = newIdWithTime('ev');
  const type = 'test.v0';
  const head = { event_id: id, event_type: type, event_timestamp: at, account_id: accountId };
  const body = JSON.stringify({ ...head, object: { id: destination } });
  return { id, type, at, accountId, body, shortBody: body, title: 'Test: events arrive here' };
}
