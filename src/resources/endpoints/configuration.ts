import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import type { ResourceContext } from '../resource.ts';
import { otherScheme } from './errors.ts';
import { placeErrors } from './operations.ts';
import { readPlace } from './read-url.ts';
import { policyInput, poolingInput, urlInput } from './schema.ts';
import { cloudEndpoints } from './table.ts';
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

function read(fields: EntryFields): EndpointFields {
  // The entry has passed its schema.
  return fields as unknown as EndpointFields;
}
