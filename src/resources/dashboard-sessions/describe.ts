import type { Identity, SessionDescription } from '../../api/admission/caller.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import { principals } from '../principals/service.ts';
import type { ResourceContext } from '../resource.ts';

/** Users that are named; beyond that, who owns a key is shown by the id. */
const mostUsers = 500;

/** Finds the names of what a session is about. */
export async function describeSession(
  { services }: ResourceContext,
  { principal, keyId }: Identity,
  restrictionIds: readonly string[],
): Promise<SessionDescription> {
  const { id, accountId } = principal;
  return {
    principal: await services.get(principals).describe(accountId, id),
    users: await services.get(principals).userNames(accountId, mostUsers),
    apiKey:
      keyId === undefined
        ? undefined
        : { id: keyId, description: await services.get(apiKeyOwners).descriptionOf(accountId, keyId) },
    restrictions: await Promise.all(
      restrictionIds.map(async (restrictionId) => ({
        id: restrictionId,
        description: await services.get(ipRestrictionSearch).descriptionOf(accountId, restrictionId),
      })),
    ),
  };
}
