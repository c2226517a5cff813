import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import type { Caller } from '../../api/admission/caller.ts';
import { Created, crudOperations } from '../../api/crud.ts';
import { descriptionTooLong, metadataTooLong, wrongIdKindOfSeveral } from '../../api/errors.ts';
import { commonFields, listIn, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { idBody, toTimestamp } from '../../lib/ids.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import { authorizeOwner, ownerOf } from '../owners.ts';
import { ownedByBots } from '../principals/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { acceptAcl } from './acl.ts';
import { createAgentCredentials } from './authenticate.ts';
import {
  credentialEndless,
  credentialInactiveOwner,
  credentialOtherOwner,
  credentialUnknownOwner,
  invalidAclRule,
  notCredentialOwner,
  tooManyAclRules,
} from './errors.ts';
import * as errors from './errors.ts';
import { agentCredentials } from './service.ts';
import { credentials, migrations } from './table.ts';
import type { Credential } from './table.ts';

const path = '/credentials';

const acl = Type.Array(
  Type.String({ description: 'One rule, "bind:" and a host name, an address or a label.', wellFormed: true }),
  {
    description:
      'Rules for what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, ' +
      '"bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label; "*" in it stands for any key or value.',
    examples: [['bind:*.example.com']],
  },
);

const CredentialView = Type.Object(
  {
    ...viewFields('credential'),
    token: nullable(
      'string',
      'Token with which agents sign in. Present only in the response to creation; null in every other.',
    ),
    acl,
    owner_id: Type.String({ description: 'The User or Bot that owns the credential.' }),
  },
  { $id: 'Credential' },
);
const CredentialCreate = Type.Object(
  {
    ...textFields,
    acl: Type.Optional(acl),
    owner_id: Type.Optional(
      Type.String({
        description:
          'The User or Bot that owns the credential. Defaults to the authenticated User or Bot; only admins may name another.',
        examples: ['bot_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  { $id: 'CredentialCreate', additionalProperties: false },
);
const CredentialUpdate = Type.Object(
  { ...textFields, acl: Type.Optional(acl) },
  { $id: 'CredentialUpdate', additionalProperties: false },
);

const ownerErrors = { other: credentialOtherOwner, unknown: credentialUnknownOwner, inactive: credentialInactiveOwner };
const fieldErrors = [descriptionTooLong, metadataTooLong, invalidAclRule, tooManyAclRules];

function credentialOperations({ store, services }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'owner' },
    store,
    table: credentials,
    path,
    noun: 'credential',
    plural: 'credentials',
    name: 'Credentials',
    tag: 'Credentials',
    listKey: 'credentials',
    filterFields: {
      ...commonFields,
      owner_id: textIn('owner_id'),
      acl: listIn('acl'),
    },
    view: CredentialView,
    createBody: CredentialCreate,
    updateBody: CredentialUpdate,
    secretFields: ['token'],
    fieldErrors: textFieldErrors(descriptionTooLong, metadataTooLong),
    errors: {
      create: [wrongIdKindOfSeveral, ...fieldErrors, ...Object.values(ownerErrors), credentialEndless],
      update: [...fieldErrors, notCredentialOwner],
      delete: [notCredentialOwner],
    },
    async authorizeCreate(transaction, { caller, body }) {
      checkEndless(caller);
      await authorizeOwner(transaction, caller, body.owner_id, services, ownerErrors);
    },
    async create(transaction, { caller, body }) {
      const ownerId = ownerOf(caller, body.owner_id);
      const first = { ...credentials.newDocument(caller.accountId), owner_id: ownerId, acl: acceptAcl(body.acl ?? []) };
      const secret = newSecret();
      const credential = await credentials.insert(transaction, withText(first, body), [hashSecret(secret)]);
      return new Created(credential, { token: `${idBody(credential.id)}_${secret}` });
    },
    async update(transaction, { caller, body }, credential) {
      checkMayWrite(caller, credential);
      const changed = { ...credential, acl: acceptAcl(body.acl ?? credential.acl) };
      return credentials.update(transaction, credential, withText(changed, body));
    },
    async remove(transaction, { caller }, credential) {
      checkMayWrite(caller, credential);
      await credentials.delete(transaction, credential);
    },
    present,
  });
}

function present(credential: Credential, { uri }: Call): object {
  const { id, created_at, description, metadata, acl: rules, owner_id } = credential;
  return { id, uri: uri(`${path}/${id}`), created_at, description, metadata, token: null, acl: rules, owner_id };
}

function checkMayWrite({ principal }: Caller, { id, owner_id }: Credential): void {
  if (principal.role === 'admin' || principal.id === owner_id) return;
  throw new UserError(notCredentialOwner, { credential: id, owner: owner_id });
}

/** Keeps a token that ends from giving anybody one that is good for longer: credentials have no end. */
function checkEndless({ endsAtMs }: Caller): void {
  if (endsAtMs !== Infinity) throw new UserError(credentialEndless, { end: toTimestamp(endsAtMs) });
}

/** Tokens of agents. They open no API, and API keys open no session of an agent. */
export const credentialsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [CredentialView, CredentialCreate, CredentialUpdate],
  operations: credentialOperations,
  provide({ store, services }) {
    const service = createAgentCredentials(store, services);
    services.provide(agentCredentials, service);
    services.add(ownedByBots, service);
  },
};
