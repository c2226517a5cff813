import type { Decision, DecisionsPage } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import type { Read } from '../../api/queries.ts';

export interface FoundDecision {
  readonly decision: Decision | undefined;
  readonly told: DecisionsPage;
}

/** Decisions of several gateways may have the same number. */
const sameTime = 20;
/** Calls that look for one decision: each looks through a limited number of them. */
const mostCalls = 10;

/** The decision with this id, or the newest one of the request with this id. */
export function useDecision(id: string): Read<FoundDecision> {
  return useRead(['DecisionsList', 'one', id], async (signal) => {
    let query: { readonly before_id?: string; readonly request_id?: string } = queryFor(id);
    for (let call = 1; ; call++) {
      const told = await client.call('DecisionsList', { query: { limit: sameTime, ...query }, signal });
      const decision = told.decisions.find((each) => each.id === id || each.request_id === id);
      const next = told.next_page_uri === null ? null : new URL(told.next_page_uri, location.origin).searchParams;
      const before = next?.get('before_id') ?? undefined;
      if (decision !== undefined || !told.was_cut_off || before === undefined || call === mostCalls)
        return { decision, told };
      query = { ...query, before_id: before };
    }
  });
}

/** A decision is the first one before the id that follows its own. */
function queryFor(id: string): { readonly before_id?: string; readonly request_id?: string } {
  const [, number] = /^dec_(\d{17})[0-9a-f]{8}$/.exec(id) ?? [];
  if (number === undefined) return { request_id: id };
  return { before_id: `dec_${String(BigInt(number) + 1n).padStart(17, '0')}00000000` };
}
