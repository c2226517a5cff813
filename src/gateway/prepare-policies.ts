import { prepareModules } from '../modules/index.ts';
import type { Prepared } from '../modules/index.ts';
import { Pace } from '../lib/pace.ts';
import type { ModuleSettings, SnapshotUpdate } from '../snapshot/contract.ts';

/** Makes the modules of an update ready in slices. To be kept until they are built, which happens in one turn. */
export async function preparePolicies({ set }: SnapshotUpdate): Promise<readonly Prepared[]> {
  const pace = new Pace();
  const prepared: Prepared[] = [];
  for (const entry of set) {
    const lists: readonly ModuleSettings[] =
      entry.kind === 'https_edge'
        ? entry.routes.map(({ modules }) => modules)
        : entry.kind === 'tcp_edge' || entry.kind === 'tls_endpoint' || entry.kind === 'internal_endpoint'
          ? [entry.modules]
          : [];
    for (const modules of lists) {
      if (modules['traffic_policy'] === undefined) continue;
      prepared.push(await prepareModules(modules, 'https_route'));
      if (pace.isDue) await pace.giveWay();
    }
  }
  return prepared;
}
