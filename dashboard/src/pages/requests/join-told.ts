import type { DecisionsPage } from '../../../../client/src/index.ts';

/** Joins what pages say beside their rows: a gateway that has not told for one of them is missing in all that is shown. */
export function joinTold(pages: readonly DecisionsPage[]): DecisionsPage | undefined {
  const last = pages.at(-1);
  if (last === undefined) return undefined;
  const gateways = new Map<string, DecisionsPage['gateways'][number]>();
  for (const gateway of pages.flatMap((page) => page.gateways)) {
    const known = gateways.get(gateway.process_id);
    if (known === undefined || known.state === 'answered') gateways.set(gateway.process_id, gateway);
  }
  return { ...last, gateways: [...gateways.values()] };
}
