import { ipRestrictions } from '../../../src/resources/ip-restrictions/table.ts';
import { warnings } from '../../../src/resources/ip-restrictions/service.ts';
import type { Gatehouse } from '../../support/gatehouse.ts';
import { from } from '../../support/people.ts';

export interface Restricted {
  readonly id: string;
  readonly policyId: string;
}

/** Creates a policy that allows some ranges, and a restriction that only warns by it. */
export async function restrict(
  gatehouse: Gatehouse,
  {
    type,
    description,
    allow,
  }: { readonly type: string; readonly description: string; readonly allow: readonly string[] },
): Promise<Restricted> {
  const policy = await gatehouse.create('/ip_policies', { description: `${description} policy` });
  await gatehouse.put(`/ip_policies/${policy.id}/rules`, allow);
  const restriction = await gatehouse.create('/ip_restrictions', { type, description, ip_policy_ids: [policy.id] });
  return { id: restriction.id, policyId: policy.id };
}

/** Calls the API from an address so often; a restriction that only warns counts it. */
export async function callFrom(gatehouse: Gatehouse, address: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) await gatehouse.get('/ip_policies?limit=1', from(address));
  await gatehouse.app.context.services.get(warnings).flush();
}

/** Makes a restriction appear to have been watched for two days. */
export async function watchForDays(gatehouse: Gatehouse, id: string): Promise<void> {
  const { store } = gatehouse.app.context;
  const current = await ipRestrictions.load(store.queries, id);
  if (current === undefined) throw new Error(`there is no restriction ${id}`);
  const since = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const actor = { id: 'host', accountId: current.account_id, operationId: 'op_watched' };
  await store.write(actor, (transaction) =>
    ipRestrictions.update(transaction, current, { ...current, warns_since: `${since.slice(0, 19)}Z` }),
  );
}
