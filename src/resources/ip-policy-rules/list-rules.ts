import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { nextPageUri } from '../../api/list-page.ts';
import { notFound } from '../../api/errors.ts';
import { setEtag } from '../../api/http/etag.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { FilterFields } from '../../api/filter/fields.ts';
import { refuseRows } from '../../api/filter/filtered-list.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { filterName } from '../../api/http/query.ts';
import { textFields } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { abandonable } from '../../store/abandonable.ts';
import type { Condition } from '../../store/search/condition.ts';
import { filteredPage } from '../../store/search/filtered-page.ts';
import type { ResourceContext } from '../resource.ts';
import { acceptCidr } from './cidr-rules.ts';
import { hostBitsSet, invalidCidr, maskMissing } from './errors.ts';
import { summarizeRules } from './replace/rule-plan.ts';
import { actions } from '../rule-entries.ts';
import { ipPolicyRules, ruleRows, ruleSetSql, rulesOfPolicy } from './table.ts';
import type { IpPolicyRule } from './table.ts';

const rulesOnPage = 2_048;

export const RulesOfPolicy = Type.Object(
  {
    rules: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Unique identifier of the rule.' }),
        cidr: Type.String({ description: 'An address range with its mask.' }),
        action: Type.String({ enum: [...actions], description: 'Effect on addresses in the range.' }),
        created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
        ...textFields,
      }),
      { description: `Rules in the order of the text of their CIDRs; at most ${rulesOnPage} on a page.` },
    ),
    totals: Type.Optional(
      Type.Object(
        {
          allow: Type.Integer({ description: 'Rules that allow.' }),
          deny: Type.Integer({ description: 'Rules that deny.' }),
        },
        { description: 'How many rules of each action the policy has, whatever the filter. On the first page only.' },
      ),
    ),
    uri: Type.String({ description: 'URI of this list, with the query that made it a part.' }),
    next_page_uri: nextPageUri,
  },
  { $id: 'RulesOfPolicy' },
);

const rulesFilterFields: FilterFields = { ...commonFields, cidr: textIn('cidr'), action: textIn('action') };

export function listRulesOperation({ store, referables }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/ip_policies/{id}/rules',
    operationId: 'IpPolicyRulesOfPolicy',
    summary: 'List the rules of an IP policy',
    description:
      'The list that PUT on the same path replaces, or those of its entries that pass `filter`. The ETag of the first page stands for the whole list: send it as If-Match with PUT, so that you do not overwrite a change of somebody else.',
    tag: 'IP policies',
    query: [{ name: 'after', description: 'The CIDR that the page before ended with.', schema: Type.String() }],
    filterFields: rulesFilterFields,
    status: 200,
    response: RulesOfPolicy,
    errors: [notFound, invalidCidr, hostBitsSet, maskMissing],
    handle: async (call) => {
      const { id = '' } = call.params;
      if (!(await referables.exists(store.queries, 'ip_policy', call.caller.accountId, id))) {
        throw new UserError(notFound, { noun: 'IP policy', id: quote(id) });
      }
      const { after: given = '', [filterName]: filter } = call.filters;
      const isFirst = given === '';
      const after = isFirst ? '' : acceptCidr(given).canonical;
      const condition = readFilter(filter, rulesFilterFields);
      const read = condition === undefined ? readPage(after, id) : readFiltered(after, id, call, condition);
      const page = pageOf(call, id, await read);
      if (!isFirst) return page;
      const { state, totals } = await summarizeRules(abandonable(store.queries, call.isAbandoned), id);
      setEtag(call, state);
      return { ...page, totals };
    },
  });

  /** One more than a page holds shows whether there is a next one. */
  async function readPage(after: string, policyId: string): Promise<PageOfRules> {
    const sql = `SELECT document FROM ${rulesOfPolicy} AND cidr > $2 ORDER BY cidr LIMIT ${rulesOnPage + 1}`;
    return cutRules((await store.queries.all(sql, [policyId, after])).map((row) => ipPolicyRules.parse(row)));
  }

  async function readFiltered(
    after: string,
    policyId: string,
    { caller, filterRows, isAbandoned }: Call,
    condition: Condition,
  ): Promise<PageOfRules> {
    const searched = {
      searcher: caller.accountId,
      table: ruleRows,
      prefix: ipPolicyRules.prefix,
      scope: { set_id: policyId },
      scopeSql: ruleSetSql,
      ascending: { column: 'cidr', after },
    };
    const wanted = { beforeId: undefined, limit: rulesOnPage + 1, condition, maxRows: filterRows, isAbandoned };
    const { found, endedAt, lookedAt } = await filteredPage(store.queries, store.json, searched, wanted);
    const rules = found.map((row) => ipPolicyRules.parse(row));
    if (endedAt === undefined) return cutRules(rules);
    if (rules.length === 0) throw refuseRows(lookedAt, `after=${endedAt}`);
    return { rules, nextAfter: endedAt };
  }
}

interface PageOfRules {
  readonly rules: readonly IpPolicyRule[];
  /** The CIDR that the next page begins after, if there is one. */
  readonly nextAfter: string | undefined;
}

function cutRules(rules: readonly IpPolicyRule[]): PageOfRules {
  const shown = rules.slice(0, rulesOnPage);
  return { rules: shown, nextAfter: rules.length > shown.length ? shown.at(-1)?.cidr : undefined };
}

function pageOf({ uri, filters }: Call, policyId: string, { rules, nextAfter }: PageOfRules): object {
  const path = `/ip_policies/${policyId}/rules`;
  const own = new URLSearchParams(filters);
  const next = new URLSearchParams({ ...filters, after: nextAfter ?? '' });
  return {
    rules: rules.map(({ id, cidr, action, created_at, description, metadata }) => ({
      id,
      cidr,
      action,
      created_at,
      description,
      metadata,
    })),
    uri: uri(own.size === 0 ? path : `${path}?${own.toString()}`),
    next_page_uri: nextAfter === undefined ? null : uri(`${path}?${next.toString()}`),
  };
}
