import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { shownId } from '../../api/shown-id.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ResourceContext } from '../resource.ts';
import { destinationKind } from './storage.ts';
import { rights, tag } from './destinations.ts';
import { destinationsPath, eventDestinations } from './table.ts';

export const Resent = Type.Object(
  { resent: Type.Integer({ minimum: 0, description: 'Events that are sent again.' }) },
  { $id: 'EventDestinationResend' },
);

/** Sends events again that were given up. */
export function resendOperation({ store }: ResourceContext): Operation {
  return operation({
    method: 'POST',
    path: `${destinationsPath}/{id}/resend`,
    operationId: 'EventDestinationsResend',
    summary: 'Send undelivered events again',
    description:
      'Sends again, in order and before later ones, all events of the destination that were given up. Attempts that wait for their time are made at once.',
    tag,
    rights,
    ignoresOtherBodies: true,
    status: 200,
    response: Resent,
    errors: [notFound],
    async handle({ caller: { accountId }, params }) {
      const id = params['id'] ?? '';
      const found = await eventDestinations.find(store.queries, accountId, id);
      if (found === undefined)
        throw new UserError(notFound, { noun: 'event destination', id: shownId(id, eventDestinations.prefix) });
      const resent = await store.writeUnlogged(async (writer) => {
        await writer.run('UPDATE event_deliveries SET retries_at = NULL WHERE destination_id = $1', [id]);
        // Whichever process sends events looks for them now.
        writer.record({ accountId, kind: destinationKind, id });
        return writer.run('UPDATE undelivered_events SET again = 1 WHERE destination_id = $1', [id]);
      }, accountId);
      return { resent };
    },
  });
}
