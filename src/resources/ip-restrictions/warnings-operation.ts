import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { ResourceContext } from '../resource.ts';
import { warnings } from './service.ts';
import { ipRestrictions } from './table.ts';

const shownSources = 1_000;

export const IpRestrictionWarnings = Type.Object(
  {
    warnings: Type.Array(
      Type.Object({
        source: Type.String({ description: 'The address that would have been refused.', examples: ['203.0.113.7'] }),
        first_seen: Type.String({ format: 'date-time', description: 'RFC 3339.' }),
        last_seen: Type.String({ format: 'date-time', description: 'RFC 3339.' }),
        count: Type.Integer({ description: 'How often it came.' }),
      }),
      { description: `Seen last first; at most ${shownSources}.` },
    ),
    total_sources: Type.Integer({ description: 'How many addresses are known; at most the newest 10,000 are kept.' }),
    uri: Type.String({ description: 'URI of this list.' }),
  },
  { $id: 'IpRestrictionWarnings' },
);

/** Lists the sources that enforcing the restriction would refuse. */
export function warningsOperation({ store, services }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/ip_restrictions/{id}/warnings',
    operationId: 'IpRestrictionWarningsList',
    summary: 'List what an IP restriction has warned of',
    description: 'Sources that passed only because the restriction is not enforced.',
    tag: 'IP restrictions',
    status: 200,
    response: IpRestrictionWarnings,
    errors: [notFound],
    handle: async ({ caller, params: { id = '' }, uri }) => {
      if ((await store.find(ipRestrictions, caller.accountId, id)) === undefined) {
        throw new UserError(notFound, { noun: 'IP restriction', id: quote(id) });
      }
      await services.get(warnings).flush();
      const rows = await store.queries.all(
        `SELECT source, first_seen, last_seen, count FROM ip_restriction_warnings WHERE restriction_id = $1
         ORDER BY last_seen DESC, source LIMIT $2`,
        [id, shownSources],
      );
      const [total] = await store.queries.all(
        'SELECT COUNT(*) FROM ip_restriction_warnings WHERE restriction_id = $1',
        [id],
      );
      return {
        warnings: rows.map(([source, first_seen, last_seen, count]) => ({ source, first_seen, last_seen, count })),
        total_sources: Number(total?.[0]),
        uri: uri(`/ip_restrictions/${id}/warnings`),
      };
    },
  });
}
