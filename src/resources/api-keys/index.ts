import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import type { Caller } from '../../api/caller.ts';
import { Created, crudOperations, nullable } from '../../api/crud.ts';
import { descriptionTooLong, metadataTooLong, wrongIdKindOfSeveral } from '../../api/errors.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../api/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { principals } from '../principals/service.ts';
import type { Principals } from '../principals/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { createAuthenticator } from './authenticator.ts';
import { inactiveOwner, notKeyOwner, otherOwner, unknownOwner } from './errors.ts';
import * as errors from './errors.ts';
import { insertKey, keysForOthers } from './keys.ts';
import { apiKeyOwners, authenticator } from './service.ts';
import { apiKeys, migrations } from './table.ts';
import type { ApiKey } from './table.ts';

const ApiKeyView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the API key.' }),
    uri: Type.String({ description: "URI of this key's resource." }),
    ...textFields,
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    token: nullable(
      'string',
      'Bearer token for the Authorization header. Present only in the response to creation; null in every other.',
    ),
    owner_id: Type.String({ description: 'The User or Bot that owns the key.' }),
  },
  { $id: 'ApiKey' },
);
const ApiKeyCreate = Type.Object(
  {
    ...textFields,
    owner_id: Type.Optional(
      Type.String({
        description:
          'The User or Bot that owns the key. Defaults to the authenticated User or Bot; only admins may name another.',
        examples: ['bot_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
      }),
    ),
  },
  { $id: 'ApiKeyCreate', additionalProperties: false },
);
const ApiKeyUpdate = Type.Object(textFields, { $id: 'ApiKeyUpdate', additionalProperties: false });

function apiKeyOperations({ store, services }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'owner' },
    store,
    table: apiKeys,
    path: '/api_keys',
    noun: 'API key',
    plural: 'API keys',
    name: 'ApiKeys',
    tag: 'API keys',
    listKey: 'keys',
    view: ApiKeyView,
    createBody: ApiKeyCreate,
    updateBody: ApiKeyUpdate,
    secretFields: ['token'],
    fieldErrors: textFieldErrors(descriptionTooLong, metadataTooLong),
    errors: {
      create: [wrongIdKindOfSeveral, descriptionTooLong, metadataTooLong, otherOwner, unknownOwner, inactiveOwner],
      update: [descriptionTooLong, metadataTooLong, notKeyOwner],
      delete: [notKeyOwner],
    },
    async authorizeCreate(transaction, { caller, body }) {
      const ownerId = ownerOf(body, caller);
      if (ownerId !== caller.principal.id) await checkOwner(transaction, caller, ownerId, services.get(principals));
    },
    async create(transaction, { caller, body }) {
      const ownerId = ownerOf(body, caller);
      const key: ApiKey = withText({ ...apiKeys.newDocument(caller.accountId), owner_id: ownerId }, body);
      return new Created(key, { token: await insertKey(transaction, key) });
    },
    async update(transaction, { caller, body }, key) {
      checkMayWrite(caller, key);
      return apiKeys.update(transaction, key, withText(key, body));
    },
    async remove(transaction, { caller }, key) {
      checkMayWrite(caller, key);
      await apiKeys.delete(transaction, key);
    },
    present,
  });
}

function present(key: ApiKey, { uri }: Call): object {
  const { id, description, metadata, created_at, owner_id } = key;
  return { id, uri: uri(`/api_keys/${id}`), description, metadata, created_at, token: null, owner_id };
}

function ownerOf({ owner_id: ownerId }: { readonly owner_id?: string }, { principal }: Caller): string {
  // Official clients send "" for what was not given.
  return ownerId === undefined || ownerId === '' ? principal.id : ownerId;
}

async function checkOwner(
  transaction: Transaction,
  { principal, accountId }: Caller,
  ownerId: string,
  directory: Principals,
): Promise<void> {
  if (!principal.admin) throw new UserError(otherOwner, { owner: quote(ownerId) });
  if (!hasPrefix(ownerId, 'usr') && !hasPrefix(ownerId, 'bot')) {
    throw new UserError(wrongIdKindOfSeveral, { field: 'owner_id', id: quote(ownerId), prefixes: 'usr_, bot_' });
  }
  const owner = await directory.load(transaction, accountId, ownerId);
  if (owner === undefined) throw new UserError(unknownOwner, { owner: quote(ownerId) });
  if (!owner.active) throw new UserError(inactiveOwner, { owner: ownerId });
}

function checkMayWrite({ principal }: Caller, { id, owner_id }: ApiKey): void {
  if (!principal.admin && principal.id !== owner_id) throw new UserError(notKeyOwner, { key: id, owner: owner_id });
}

export const apiKeysResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [ApiKeyView, ApiKeyCreate, ApiKeyUpdate],
  operations: apiKeyOperations,
  provide({ store, services }) {
    services.provide(authenticator, createAuthenticator(store, services));
    services.provide(apiKeyOwners, keysForOthers);
  },
};
