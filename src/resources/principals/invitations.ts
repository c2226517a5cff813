import { Type } from 'typebox';

import { adminsMay } from '../../api/admission/rights.ts';
import { nullable } from '../../api/body/view-fields.ts';
import { Created, crudOperations } from '../../api/crud.ts';
import { invitationLink } from '../../api/dashboard/invitation-route.ts';
import { textIn, timeIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { UserError } from '../../errors/user-error.ts';
import { idBody, toTimestamp } from '../../lib/ids.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import type { ResourceContext } from '../resource.ts';
import { invitationEndless } from './errors.ts';
import {
  checkPerson,
  personEmail,
  personErrors,
  personFilterFields,
  personName,
  personRole,
  withPerson,
} from './people.ts';
import { invitations } from './table.ts';
import type { Invitation } from './table.ts';

const path = '/invitations';
const lastsMs = 3 * 24 * 3_600_000;

export const InvitationView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the invitation.' }),
    uri: Type.String({ description: "URI of this invitation's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    name: personName,
    email: Type.Optional(personEmail),
    role: personRole,
    link: nullable(
      'string',
      'The first person who opens it becomes this user. Present only in the response to creation; null in every other.',
    ),
    expires_at: Type.String({ format: 'date-time', description: 'Until when the link works: three days, RFC 3339.' }),
    invited_by: Type.String({
      description: 'The admin who made it. The link ends when that user is deactivated or no longer an admin.',
    }),
  },
  { $id: 'Invitation' },
);
export const InvitationCreate = Type.Object(
  { name: personName, email: Type.Optional(personEmail), role: personRole },
  { $id: 'InvitationCreate', additionalProperties: false },
);
export const InvitationUpdate = Type.Object(
  { name: Type.Optional(personName), email: Type.Optional(personEmail), role: Type.Optional(personRole) },
  { $id: 'InvitationUpdate', additionalProperties: false },
);

export function invitationOperations({ store }: ResourceContext): readonly Operation[] {
  return crudOperations({
    store,
    table: invitations,
    path,
    noun: 'invitation',
    plural: 'invitations',
    name: 'Invitations',
    tag: 'Users',
    listKey: 'invitations',
    rights: { read: 'everyone', write: adminsMay('invite somebody, or change or take back an invitation') },
    filterFields: { ...personFilterFields, expires_at: timeIn('expires_at'), invited_by: textIn('invited_by') },
    view: InvitationView,
    createBody: InvitationCreate,
    updateBody: InvitationUpdate,
    secretFields: ['link'],
    errors: { create: [...personErrors, invitationEndless], update: personErrors, delete: [] },
    async create(transaction, { caller, body, base }) {
      const { endsAtMs, accountId, principal } = caller;
      if (endsAtMs !== Infinity) throw new UserError(invitationEndless, { end: toTimestamp(endsAtMs) });
      const begun: Invitation = {
        ...invitations.newDocument(accountId),
        name: body.name,
        role: body.role,
        expires_at: toTimestamp(Date.now() + lastsMs),
        invited_by: principal.id,
      };
      const invitation = withPerson(begun, body);
      await checkPerson(transaction, invitation);
      const secret = newSecret();
      await invitations.insert(transaction, invitation, [hashSecret(secret)]);
      return new Created(invitation, { link: invitationLink(base, `${idBody(invitation.id)}_${secret}`) });
    },
    async update(transaction, { body }, previous) {
      const changed = withPerson(previous, body);
      await checkPerson(transaction, changed);
      return invitations.update(transaction, previous, changed);
    },
    async remove(transaction, _call, invitation) {
      await invitations.delete(transaction, invitation);
    },
    present: ({ account_id: _account, ...invitation }, { uri }) => ({
      ...invitation,
      uri: uri(`${path}/${invitation.id}`),
      link: null,
    }),
  });
}
