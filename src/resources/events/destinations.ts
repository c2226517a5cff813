import { Type } from 'typebox';

import { adminsMay } from '../../api/admission/rights.ts';
import { textFields, withText } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Queries } from '../../store/database.ts';
import { nameUsers } from '../name-users.ts';
import type { ResourceContext } from '../resource.ts';
import { readStates } from './delivery-states.ts';
import type { ShownState } from './delivery-states.ts';
import * as errors from './errors.ts';
import { destinationsPath, eventDestinations, referable } from './table.ts';
import type { EventDestination } from './table.ts';
import { acceptTarget, presentTarget, targetInput, targetView } from './target.ts';
import type { TargetInput } from './target.ts';

export const rights = adminsMay('read or change where events are sent');
export const tag = 'Events';

const format = Type.String({ description: 'Always `json`.', maxBytes: 16, wellFormed: true, examples: ['json'] });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const Delivery = Type.Object(
  {
    status: Type.String({
      enum: ['unused', 'ok', 'failing'],
      description: 'unused: no subscription names it. failing: the last attempt failed, and is repeated.',
    }),
    sent_at: nullable('string', 'When an event arrived last, RFC 3339; null if none has.'),
    failing_since: nullable('string', 'When attempts began to fail, RFC 3339; null if the last one did not.'),
    retries_at: nullable('string', 'When the next attempt is due, RFC 3339.'),
    last_error: nullable('string', 'The reason why an event did not arrive last, or not for everybody.'),
    undelivered: count(
      'Events that were given up and are kept: `POST /event_destinations/{id}/resend` sends them again.',
    ),
    lost: count('Events that were given up and are not kept, or whose change had been deleted before they were sent.'),
  },
  { additionalProperties: false, description: 'Progress of the events so far.' },
);

export const DestinationView = Type.Object(
  {
    ...viewFields('event destination'),
    format,
    target: targetView,
    delivery: Delivery,
  },
  { $id: 'EventDestination' },
);
export const DestinationCreate = Type.Object(
  { ...textFields, format: Type.Optional(format), target: targetInput },
  { $id: 'EventDestinationCreate', additionalProperties: false },
);
export const DestinationUpdate = Type.Object(
  { ...textFields, format: Type.Optional(format), target: Type.Optional(targetInput) },
  { $id: 'EventDestinationUpdate', additionalProperties: false },
);

const writeErrors = [
  errors.noTarget,
  errors.targetNotOffered,
  errors.unknownFormat,
  errors.unusableWebhookUrl,
  errors.unusableWebhookSecret,
  errors.webhookSecretMissing,
  errors.unusableSyslogHost,
  errors.noEventFolder,
  errors.unusableFileName,
  errors.unusableCollector,
  errors.noMailServer,
  errors.unusableAddress,
];

export function destinationOperations({ store, sealer, settings }: ResourceContext): readonly Operation[] {
  return crudOperations({
    store,
    table: eventDestinations,
    path: destinationsPath,
    noun: 'event destination',
    plural: 'event destinations',
    name: 'EventDestinations',
    tag,
    listKey: 'event_destinations',
    rights: { read: rights, write: rights },
    filterFields: commonFields,
    whyGone: 'its secret is gone too',
    view: DestinationView,
    createBody: DestinationCreate,
    updateBody: DestinationUpdate,
    errors: { create: writeErrors, update: writeErrors, delete: [errors.destinationInUse] },
    create(transaction, { caller, body }) {
      checkFormat(body.format);
      const { target, secrets } = acceptTarget(body.target as TargetInput, undefined, settings.events);
      const first = { ...eventDestinations.newDocument(caller.accountId), target, secret_version: 1 };
      const sealed = sealer.seal(secrets ?? '{}', first.id);
      return eventDestinations.insert(transaction, withText(first, body), [sealed]);
    },
    async update(transaction, { body }, previous) {
      checkFormat(body.format);
      const { target, secrets } =
        body.target === undefined
          ? { target: previous.target, secrets: undefined }
          : acceptTarget(body.target as TargetInput, previous.target, settings.events);
      if (secrets !== undefined) {
        const sql = 'UPDATE event_destinations SET sealed_secrets = $2 WHERE id = $1';
        await transaction.run(sql, [previous.id, sealer.seal(secrets, previous.id)]);
      }
      const secret_version = previous.secret_version + (secrets === undefined ? 0 : 1);
      const changed = withText({ ...previous, target, secret_version }, body);
      const updated = await eventDestinations.update(transaction, previous, changed);
      if (updated !== previous) await tryAtOnce(transaction, previous.id);
      return updated;
    },
    async remove(transaction, _call, destination) {
      const { id, account_id } = destination;
      const users = await referable.referrersOf(transaction, id);
      if (users.length > 0) {
        const named = await nameUsers(transaction, account_id, users);
        throw new UserError(errors.destinationInUse, { destination: id, users: named });
      }
      await eventDestinations.delete(transaction, destination);
    },
    presentAll,
  });
}

async function presentAll(
  queries: Queries,
  destinations: readonly EventDestination[],
  { uri }: Call,
): Promise<readonly object[]> {
  const states = await readStates(
    queries,
    destinations.map(({ id }) => id),
  );
  return destinations.map(({ id, created_at, description, metadata, target }) => ({
    id,
    uri: uri(`${destinationsPath}/${id}`),
    created_at,
    description,
    metadata,
    format: 'json',
    target: presentTarget(target),
    delivery: states.get(id) ?? unused,
  }));
}

const unused: ShownState = {
  status: 'unused',
  sent_at: null,
  failing_since: null,
  retries_at: null,
  last_error: null,
  undelivered: 0,
  lost: 0,
};

function checkFormat(given: string | undefined): void {
  if (given !== undefined && given.toLowerCase() !== 'json')
    throw new UserError(errors.unknownFormat, { format: quote(given) });
}

/** Whoever has mended a destination need not wait for the next attempt. */
async function tryAtOnce(transaction: { run(sql: string, values: string[]): Promise<number> }, id: string) {
  await transaction.run('UPDATE event_deliveries SET retries_at = NULL WHERE destination_id = $1', [id]);
}
