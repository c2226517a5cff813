import type { Static } from 'typebox';

import type { Call } from '../../api/call.ts';
import { idempotencyKeyReused, invalidIdempotencyKey, notFound, preconditionFailed } from '../../api/errors.ts';
import { checkIfMatch, setEtag } from '../../api/http/etag.ts';
import { withIdempotencyKey } from '../../api/idempotency.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { withText } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { ResourceContext } from '../resource.ts';
import { endsAfterCaller, notKeyOwner, replacedToken } from './errors.ts';
import { replaceSecret } from './keys.ts';
import { withLimits } from './limits.ts';
import { checkEnd, checkIsCurrent, checkMayWrite } from './may-write.ts';
import { presentKey } from './present.ts';
import { ApiKeyRotate, ApiKeyView } from './schema.ts';
import { keyUses } from './service.ts';
import { apiKeys } from './table.ts';
import type { ApiKey } from './table.ts';

const path = '/api_keys/{id}/rotate';

export function rotateOperation({ store, services }: ResourceContext): Operation {
  return operation({
    method: 'POST',
    path,
    operationId: 'ApiKeysRotate',
    summary: 'Give API key a new token',
    description:
      'The answer shows the new token, once. The key keeps its id and everything else. The present token ends at once, or after the overlap, during which it can no longer rotate the key. An older token ends in any case.',
    tag: 'API keys',
    rights: 'owner',
    body: ApiKeyRotate,
    status: 200,
    response: ApiKeyView,
    accepts: ['IdempotencyKey', 'IfMatch'],
    errors: [
      notFound,
      notKeyOwner,
      replacedToken,
      endsAfterCaller,
      preconditionFailed,
      invalidIdempotencyKey,
      idempotencyKeyReused,
    ],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const { id = '' } = call.params;
        const key = await apiKeys.find(transaction, call.caller.accountId, id);
        if (key === undefined) throw new UserError(notFound, { noun: 'API key', id: quote(id) });
        checkMayWrite(call.caller, key);
        return withIdempotencyKey(transaction, call, path, ['token'], async () => {
          const { rotated, token } = await rotate(transaction, call, key);
          const [lastUsedAt] = await services.get(keyUses).read(transaction, [rotated]);
          return { ...presentKey(rotated, lastUsedAt, call), token };
        });
      }),
  });
}

async function rotate(
  transaction: Transaction,
  call: Call<Static<typeof ApiKeyRotate>>,
  key: ApiKey,
): Promise<{ readonly rotated: ApiKey; readonly token: string }> {
  checkIsCurrent(call.caller, key);
  checkEnd(call.caller, key, key);
  checkIfMatch(call, key);
  const nowMs = Date.now();
  const overlapMs = (call.body.overlap_seconds ?? 0) * 1000;
  const token = await replaceSecret(transaction, key, overlapMs > 0);
  const { previous_token_expires_at: _ended, ...kept } = key;
  const changed = {
    ...kept,
    rotated_at: toTimestamp(nowMs),
    rotations: (key.rotations ?? 0) + 1,
    ...(overlapMs > 0 ? { previous_token_expires_at: toTimestamp(nowMs + overlapMs) } : {}),
  };
  // Fields stand in the order in which an update leaves them, so that one which changes nothing writes nothing.
  const rotated = await apiKeys.update(transaction, key, withText(withLimits(changed, {}), {}));
  setEtag(call, rotated);
  return { rotated, token };
}
