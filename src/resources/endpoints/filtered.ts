import type { Call } from '../../api/call.ts';
import { booleanIn, commonFields, listIn, numberIn, textIn } from '../../api/filter/fields.ts';
import type { FilterFields } from '../../api/filter/fields.ts';
import { cutPage, refuseRows } from '../../api/filter/filtered-list.ts';
import type { Shown } from '../../api/filter/filtered-list.ts';
import type { Condition } from '../../store/search/condition.ts';
import { SearchSteps } from '../../store/search/search-steps.ts';
import type { Store } from '../../store/store.ts';
import type { Page } from '../../store/table.ts';

export interface PresentedEndpoint {
  readonly id: string;
}

/** Fields of an endpoint as it is shown: it is in no table. */
export const filterFields: FilterFields = {
  ...commonFields,
  updated_at: commonFields.created_at,
  type: textIn('type'),
  proto: textIn('proto'),
  scheme: textIn('scheme'),
  hostport: textIn('hostport'),
  host: textIn('host'),
  port: numberIn('port'),
  public_url: textIn('public_url'),
  url: textIn('url'),
  name: textIn('name'),
  region: textIn('region'),
  bindings: listIn('bindings'),
  pooling_enabled: booleanIn('pooling_enabled'),
  principal: textIn('principal', 'id'),
  'principal.id': textIn('principal', 'id'),
  edge: textIn('edge', 'id'),
  'edge.id': textIn('edge', 'id'),
  tunnel: textIn('tunnel', 'id'),
  'tunnel.id': textIn('tunnel', 'id'),
  tunnel_session: textIn('tunnel_session', 'id'),
  'tunnel_session.id': textIn('tunnel_session', 'id'),
  upstream_url: textIn('upstream_url'),
};

/** Endpoints that are collected at once. */
const stepRows = 100;

/** A page of the endpoints that pass a condition. They are collected a step at a time, up to the bound of the call. */
export async function filteredEndpoints(
  store: Store,
  read: (page: Page) => Promise<readonly PresentedEndpoint[]>,
  { caller, page, filterRows, isAbandoned }: Call,
  condition: Condition,
): Promise<Shown<PresentedEndpoint>> {
  const found: PresentedEndpoint[] = [];
  const steps = new SearchSteps(condition, caller.accountId, isAbandoned);
  let { beforeId } = page;
  let lookedAt = 0;
  while (lookedAt < filterRows && !steps.isOutOfTime) {
    const some = await read({ beforeId, limit: stepRows });
    const passing = await store.passing(some, steps);
    found.push(...some.filter((_, at) => passing[at] === true));
    if (some.length < stepRows || found.length > page.limit) return cutPage(found, page.limit);
    lookedAt += some.length;
    beforeId = some.at(-1)?.id;
  }
  if (found.length === 0) throw refuseRows(lookedAt, `before_id=${beforeId ?? ''}`);
  return { documents: found, nextBefore: beforeId };
}
