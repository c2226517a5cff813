import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { acceptEndpointPolicy, missingIpPolicy } from '../../modules/index.ts';
import { preparePolicy } from '../../modules/traffic-policy/service.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { checkSecrets } from '../named-secrets.ts';
import { countPolicies } from '../policy-memory.ts';
import type { ResourceContext } from '../resource.ts';
import { checkPlace } from './conflicts.ts';
import * as errors from './errors.ts';
import { checkServed, readPlace } from './read-url.ts';
import type { Place } from './read-url.ts';
import { cloudEndpoints, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';

export interface EndpointChange extends TextFields {
  readonly url?: string | undefined;
  readonly traffic_policy?: string | undefined;
  readonly bindings?: readonly string[] | undefined;
  readonly pooling_enabled?: boolean | undefined;
}

/** The writes of single calls and of configurations. */
export function endpointWrites(context: ResourceContext) {
  const { referables, services, settings } = context;
  return {
    async create(
      transaction: Transaction,
      accountId: string,
      wanted: EndpointChange,
      newId?: string,
    ): Promise<CloudEndpoint> {
      const { url = '', traffic_policy = '', bindings = [], pooling_enabled = false } = wanted;
      if (url === '') throw new UserError(errors.fieldMissing, { field: 'url' });
      const place = readPlace(url, bindings, settings);
      checkServed(place, settings);
      const first = cloudEndpoints.newDocument(accountId, newId);
      await checkPlace(context, transaction, { ...first, place, pooling_enabled });
      const own = { url: place.url, bindings: [place.binding], traffic_policy, pooling_enabled };
      const made = { ...first, ...own, updated_at: first.created_at };
      const named = await acceptPolicy(traffic_policy, place, settings.errorPrefix);
      const endpoint = await cloudEndpoints.insert(transaction, withText(made, wanted));
      await setNamed(transaction, endpoint, named);
      return endpoint;
    },
    async update(transaction: Transaction, previous: CloudEndpoint, change: EndpointChange): Promise<CloudEndpoint> {
      const { url = previous.url, traffic_policy = previous.traffic_policy } = change;
      const { pooling_enabled = previous.pooling_enabled } = change;
      const hasMoved = change.url !== undefined || (change.bindings?.length ?? 0) > 0;
      const place = hasMoved ? readPlace(url, change.bindings ?? [], settings) : placeOf(previous);
      const { scheme } = partsOf(previous);
      if (place.parts.scheme !== scheme) throw new UserError(errors.otherScheme, { scheme, url: quote(url) });
      if (place.url !== previous.url) checkServed(place, settings);
      if (place.url !== previous.url || pooling_enabled !== previous.pooling_enabled)
        await checkPlace(context, transaction, { ...previous, place, pooling_enabled });
      const own = { url: place.url, bindings: [place.binding], traffic_policy, pooling_enabled };
      const isNewPolicy = traffic_policy !== previous.traffic_policy || place.binding !== placeOf(previous).binding;
      const named = isNewPolicy ? await acceptPolicy(traffic_policy, place, settings.errorPrefix) : undefined;
      const changed = withText({ ...previous, ...own }, change);
      if (JSON.stringify(changed) === JSON.stringify(withText(previous, {}))) return previous;
      const updated = { ...changed, updated_at: toTimestamp(Date.now()) };
      const endpoint = await cloudEndpoints.update(transaction, previous, updated);
      if (named !== undefined) await setNamed(transaction, endpoint, named);
      return endpoint;
    },
    async remove(transaction: Transaction, endpoint: CloudEndpoint): Promise<void> {
      await referables.set(transaction, 'ip_policy', endpoint.id, []);
      await cloudEndpoints.delete(transaction, endpoint);
    },
  };

  /** Counts the policy, checks that the IP policies and secrets exist, and records that the former are in use. */
  async function setNamed(
    transaction: Transaction,
    endpoint: CloudEndpoint,
    { ipPolicyIds: ids, secrets, kib }: Named,
  ): Promise<void> {
    const { id, account_id } = endpoint;
    await countPolicies(transaction, 'cloud_endpoints', endpoint, kib);
    try {
      await checkSecrets(services, transaction, account_id, secrets);
    } catch (error) {
      throw error instanceof UserError ? wrapped(error, settings.errorPrefix) : error;
    }
    for (const each of ids)
      if (!(await referables.exists(transaction, 'ip_policy', account_id, each)))
        throw wrapped(missingIpPolicy(each), settings.errorPrefix);
    await referables.set(transaction, 'ip_policy', id, ids);
  }
}

type Named = Pick<ReturnType<typeof acceptEndpointPolicy>, 'ipPolicyIds' | 'secrets' | 'kib'>;

/** Checks the text of a policy. Returns what it names. */
async function acceptPolicy(text: string, { parts, binding }: Place, errorPrefix: string): Promise<Named> {
  if (text === '') throw new UserError(errors.policyMissing);
  await preparePolicy(text);
  try {
    const holder = { scheme: parts.scheme, isInternal: binding === 'internal', isCloud: true };
    return acceptEndpointPolicy(text, holder);
  } catch (error) {
    throw error instanceof UserError ? wrapped(error, errorPrefix) : error;
  }
}

/** Clients know an error of a policy by its number in the text. */
function wrapped({ code, message }: UserError, errorPrefix: string): UserError {
  return new UserError(errors.invalidPolicy, { reason: `${message} (${errorPrefix}${code})` });
}

function placeOf(endpoint: CloudEndpoint): Place {
  const [binding = 'public'] = endpoint.bindings;
  return { url: endpoint.url, parts: partsOf(endpoint), binding };
}
