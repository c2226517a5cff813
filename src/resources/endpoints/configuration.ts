import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { isInternalName } from '../../lib/endpoint-url.ts';
import { claimOfReservation, defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { parentOf } from '../hostname-holders.ts';
import { dependenciesOfPolicy } from '../policy-dependencies.ts';
import type { ResourceContext } from '../resource.ts';
import { otherScheme } from './errors.ts';
import { placeErrors } from './operations.ts';
import { readPlace } from './read-url.ts';
import { policyInput, poolingInput, urlInput } from './schema.ts';
import { cloudEndpoints, leavePlace, partsOf, sharePlace } from './table.ts';
import { endpointWrites } from './writes.ts';

export const CloudEndpointEntry = entrySchema('CloudEndpointEntry', 'cloud_endpoints', {
  ...textFields,
  url: urlInput,
  traffic_policy: policyInput,
  pooling_enabled: Type.Optional(poolingInput),
});

interface EndpointFields extends TextFields {
  readonly url: string;
  readonly traffic_policy: string;
  readonly pooling_enabled?: boolean;
}

export function cloudEndpointKind(context: ResourceContext): ConfigurationKind {
  const writes = endpointWrites(context);
  return defineKind({
    kind: 'cloud_endpoints',
    noun: 'cloud endpoint',
    scope: 'cloud_endpoint',
    table: cloudEndpoints,
    changeKinds: [cloudEndpoints.kind],
    schema: CloudEndpointEntry,
    isOther: (one, other) => schemeOf(one) !== schemeOf(other),
    errors: [...placeErrors, otherScheme],
    // A pool holds a name for others too, and so does a reserved domain that is deleted later.
    isDeletedFirst: true,
    suggestName: ({ description, url }) => description ?? url.slice(url.indexOf('://') + 3),
    describe: async (_queries, endpoints) => endpoints.map(toFields),
    accept: async (fields) => {
      const { url, ...others } = read(fields);
      return toFields({ ...others, url: readPlace(url, [], context.settings).url });
    },
    create: ({ transaction, call }, fields) => writes.create(transaction, call.caller.accountId, toChange(fields)),
    async update({ transaction }, endpoint, fields) {
      await writes.update(transaction, endpoint, toChange(fields));
    },
    remove: ({ transaction }, endpoint) => writes.remove(transaction, endpoint),
    claims: (fields) => claimsIn(readAny(fields)),
    async dependsOn(fields) {
      const { url, traffic_policy = '' } = readAny(fields);
      return url === undefined ? [] : [...reservationsFor(url), ...(await dependenciesOfPolicy(traffic_policy))];
    },
    leaves(before, after) {
      const [was, is] = [readAny(before), readAny(after)];
      const isShared = was.pooling_enabled !== true && is.pooling_enabled === true;
      return was.url === is.url && !isShared ? [] : claimsIn(was);
    },
    async release({ transaction }, endpoint, fields) {
      await (read(fields).url === endpoint.url ? sharePlace : leavePlace)(transaction, endpoint);
      return endpoint;
    },
  });
}

function toChange(fields: EntryFields) {
  const { pooling_enabled = false, ...others } = read(fields);
  return { ...others, ...textsToSet(others), pooling_enabled };
}

/** The binding goes without saying: it is that of the name. */
function toFields({ url, traffic_policy, pooling_enabled, ...texts }: EndpointFields): EntryFields {
  return { ...textsOf(texts), url, traffic_policy, ...(pooling_enabled === true && { pooling_enabled }) };
}

/** The name or port that it has in the installation, or its internal URL. */
function claimsIn({ url }: Partial<EndpointFields>): readonly string[] {
  if (url === undefined) return [];
  const { scheme, hostname, port } = partsOf({ url });
  return [isInternalName(hostname) ? url : scheme === 'tcp' ? String(port) : hostname];
}

/** A public name may be reserved by the wildcard above it. */
function reservationsFor(url: string): readonly string[] {
  const { scheme, hostname } = partsOf({ url });
  return isInternalName(hostname) || scheme === 'tcp' ? [] : [claimOfReservation(`*.${parentOf(hostname)}`)];
}

function schemeOf(fields: EntryFields): string {
  return partsOf(read(fields)).scheme;
}

function read(fields: EntryFields): EndpointFields {
  // The entry has passed its schema.
  return fields as unknown as EndpointFields;
}

/** The fields of a deletion are empty. */
function readAny(fields: EntryFields): Partial<EndpointFields> {
  return fields;
}
