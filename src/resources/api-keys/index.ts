import { Created, crudOperations } from '../../api/crud.ts';
import { descriptionTooLong, metadataTooLong, wrongIdKindOfSeveral } from '../../api/errors.ts';
import { booleanIn, commonFields, listIn, textIn, timeIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, withText } from '../../api/body/text-fields.ts';
import { duplicateEntry, notAnIpPolicyId } from '../../errors/shared.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { whenReady } from '../../lib/awaitable.ts';
import { backgroundTasks, flushAtEnd } from '../background-tasks.ts';
import { restrictionPolicyNotFound, wouldLockOut } from '../ip-restrictions/errors.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import { authorizeOwner, ownerOf } from '../owners.ts';
import { policyProtectors } from '../policy-protection.ts';
import { ownedByBots } from '../principals/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { createAuthenticator } from './authenticator.ts';
import { endsAfterCaller, inactiveOwner, invalidExpiry, notKeyOwner, otherOwner, unknownOwner } from './errors.ts';
import * as errors from './errors.ts';
import { KeyUses } from './key-uses.ts';
import { createKeysForOthers, deleteKey, insertKey } from './keys.ts';
import { syncPolicies, withLimits } from './limits.ts';
import { checkEnd, checkMayWrite, endOf } from './may-write.ts';
import { presentKey } from './present.ts';
import { keyProtector } from './protector.ts';
import { rotateOperation } from './rotate.ts';
import { ApiKeyCreate, ApiKeyRotate, ApiKeyUpdate, ApiKeyView } from './schema.ts';
import { apiKeyOwners, authenticator, keyUses } from './service.ts';
import { apiKeys, migrations } from './table.ts';
import type { ApiKey } from './table.ts';

const fieldFaults: readonly ErrorDefinition[] = [
  descriptionTooLong,
  metadataTooLong,
  invalidExpiry,
  notAnIpPolicyId,
  duplicateEntry,
  restrictionPolicyNotFound,
  endsAfterCaller,
];

const ownerErrors = { other: otherOwner, unknown: unknownOwner, inactive: inactiveOwner };

function apiKeyOperations({ store, services, referables }: ResourceContext): readonly Operation[] {
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
    filterFields: {
      ...commonFields,
      owner_id: textIn('owner_id'),
      expires_at: timeIn('expires_at'),
      ip_policy_ids: listIn('ip_policy_ids'),
      read_only: booleanIn('read_only'),
      rotated_at: timeIn('rotated_at'),
    },
    view: ApiKeyView,
    createBody: ApiKeyCreate,
    updateBody: ApiKeyUpdate,
    secretFields: ['token'],
    fieldErrors: textFieldErrors(descriptionTooLong, metadataTooLong),
    errors: {
      create: [...fieldFaults, wrongIdKindOfSeveral, ...Object.values(ownerErrors)],
      update: [...fieldFaults, notKeyOwner, wouldLockOut],
      delete: [notKeyOwner],
    },
    guarded: ['update'],
    authorizeCreate: (transaction, { caller, body }) =>
      authorizeOwner(transaction, caller, body.owner_id, services, ownerErrors),
    async create(transaction, { caller, body }) {
      const made = { ...apiKeys.newDocument(caller.accountId), owner_id: ownerOf(caller, body.owner_id) };
      const key: ApiKey = withText(withLimits(made, body), body);
      checkEnd(caller, key);
      const token = await insertKey(transaction, key);
      if (key.ip_policy_ids !== undefined) await syncPolicies(referables, transaction, key);
      services.get(keyUses).created(key.id);
      return new Created(key, { token });
    },
    async update(transaction, call, key) {
      const { caller, body } = call;
      checkMayWrite(caller, key);
      const changed = withText(withLimits(key, body), body);
      if (endOf(changed) > endOf(key)) checkEnd(caller, changed, key);
      const stored = await apiKeys.update(transaction, key, changed);
      if (body.ip_policy_ids === undefined || stored === key) return stored;
      await syncPolicies(referables, transaction, stored);
      await services.get(lockoutGuard).check(transaction, call);
      return stored;
    },
    async remove(transaction, { caller }, key) {
      checkMayWrite(caller, key);
      await deleteKey(referables, transaction, key);
    },
    presentAll: (queries, keys, call) =>
      whenReady(services.get(keyUses).read(queries, keys), (lastUses) =>
        keys.map((key, at) => presentKey(key, lastUses[at], call)),
      ),
  });
}

export const apiKeysResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [ApiKeyView, ApiKeyCreate, ApiKeyUpdate, ApiKeyRotate],
  operations: (context) => [...apiKeyOperations(context), rotateOperation(context)],
  provide({ store, services, referables }) {
    const uses = new KeyUses(store);
    services.provide(keyUses, uses);
    services.add(
      backgroundTasks,
      flushAtEnd(() => uses.flush()),
    );
    services.provide(authenticator, createAuthenticator(store, services, uses));
    const keys = createKeysForOthers(store, referables);
    services.provide(apiKeyOwners, keys);
    services.add(ownedByBots, keys);
    services.add(policyProtectors, keyProtector);
  },
};
