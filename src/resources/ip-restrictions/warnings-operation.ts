import { Type } from 'typebox';

import { notFound } from '../../api/errors.ts';
import { numberIn, textIn, timeIn } from '../../api/filter/fields.ts';
import type { FilterFields } from '../../api/filter/fields.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { filterName } from '../../api/http/query.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { SearchSteps } from '../../store/search/search-steps.ts';
import type { ResourceContext } from '../resource.ts';
import { warnings } from './service.ts';
import { ipRestrictions } from './table.ts';

const shownSources = 1_000;

const filterFields: FilterFields = {
  source: textIn('source'),
  first_seen: timeIn('first_seen'),
  last_seen: timeIn('last_seen'),
  count: numberIn('count'),
};

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
    total_sources: Type.Integer({
      description: 'How many addresses are known and pass the filter, if there is one. The newest 10,000 are kept.',
    }),
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
    filterFields,
    status: 200,
    response: IpRestrictionWarnings,
    errors: [notFound],
    handle: async ({ caller, params: { id = '' }, uri, filters, filterRows, isAbandoned }) => {
      if ((await store.find(ipRestrictions, caller.accountId, id)) === undefined) {
        throw new UserError(notFound, { noun: 'IP restriction', id: quote(id) });
      }
      const condition = readFilter(filters[filterName], filterFields);
      await services.get(warnings).flush();
      const known = await readWarnings(id, condition === undefined ? shownSources : filterRows);
      const passing =
        condition === undefined
          ? known
          : await passingOf(known, new SearchSteps(condition, caller.accountId, isAbandoned));
      return {
        warnings: passing.slice(0, shownSources),
        total_sources: condition === undefined ? await countWarnings(id) : passing.length,
        uri: uri(`/ip_restrictions/${id}/warnings`),
      };
    },
  });

  async function readWarnings(id: string, limit: number): Promise<readonly object[]> {
    const rows = await store.queries.all(
      `SELECT source, first_seen, last_seen, count FROM ip_restriction_warnings WHERE restriction_id = $1
       ORDER BY last_seen DESC, source LIMIT $2`,
      [id, limit],
    );
    return rows.map(([source, first_seen, last_seen, count]) => ({ source, first_seen, last_seen, count }));
  }

  async function countWarnings(id: string): Promise<number> {
    const sql = 'SELECT COUNT(*) FROM ip_restriction_warnings WHERE restriction_id = $1';
    return Number((await store.queries.all(sql, [id]))[0]?.[0]);
  }

  async function passingOf(known: readonly object[], steps: SearchSteps): Promise<readonly object[]> {
    const passes = await store.passing(known, steps);
    return known.filter((_, at) => passes[at] === true);
  }
}
