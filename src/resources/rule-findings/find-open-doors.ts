import { isEverybody } from '../../lib/ip/address-sets.ts';
import { isInternalName } from '../../lib/endpoint-url.ts';
import { coverRules } from '../../lib/ip/rule-coverage.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { ModuleTarget } from '../../modules/module.ts';
import { edgeAddresses, edgeModules, httpsRouteModules } from '../edges/service.ts';
import type { EdgeAddress } from '../edges/service.ts';
import { cloudEndpointService } from '../endpoints/service.ts';
import { guardsOf } from '../guards.ts';
import type { Guards } from '../guards.ts';
import type { ResourceContext } from '../resource.ts';
import { agentTunnels } from '../tunnels/service.ts';
import type { Door, FindingList } from './finding.ts';
import { keyOfList } from './find-rule-findings.ts';
import type { Admits } from './find-rule-findings.ts';

/** Edges, routes and endpoints that are looked at. */
export const mostDoors = 20_000;
const pageSize = 100;

/** An edge, route or endpoint with all that decides who comes in. */
export interface GuardedDoor extends Door {
  readonly guards: Guards;
}

type Context = Pick<ResourceContext, 'services' | 'store'>;
type Page<Entry> = (beforeId: string | undefined) => Promise<readonly Entry[]>;

/** Reads all that visitors of an account reach, whoever may come in. */
export async function* readDoors(context: Context, accountId: string, pace: Pace): AsyncGenerator<GuardedDoor> {
  yield* readEdges(context, accountId, pace);
  yield* readEndpoints(context, accountId, pace);
}

async function* readEdges({ services }: Context, accountId: string, pace: Pace): AsyncGenerator<GuardedDoor> {
  for (const kind of services.all(edgeAddresses)) {
    const { prefix, path, proto } = kind;
    const modules = services.all(edgeModules).find((each) => each.prefix === prefix);
    const edges: Page<EdgeAddress> = (beforeId) => kind.page(accountId, { beforeId, limit: pageSize });
    for await (const { id, hostports } of allOf(edges)) {
      // One that is reached nowhere has no visitors.
      if (hostports.length === 0) continue;
      if (pace.isDue) await pace.giveWay();
      const name = hostports.length === 1 ? hostports[0]! : `${hostports[0]} and ${hostports.length - 1} more`;
      const routes = await services.get(httpsRouteModules).ofEdge(accountId, id, mostDoors + 1);
      for (const route of routes ?? []) {
        const guards = await guardsOf(route.modules, 'ip_policy_ids', 'https_route');
        yield { id: route.id, path: `${path}/${id}/routes`, name: `${name}${route.match}`, guards };
      }
      if (routes !== undefined) continue;
      const own = (await modules?.find(accountId, id)) ?? {};
      const target: ModuleTarget = proto === 'tcp' ? 'tcp_edge' : 'tls_edge';
      yield { id, path, name, guards: await guardsOf(own, 'ip_policy_ids', target) };
    }
  }
}

async function* readEndpoints(
  { services, store }: Context,
  accountId: string,
  pace: Pace,
): AsyncGenerator<GuardedDoor> {
  const tunnels = services.get(agentTunnels);
  for await (const tunnel of allOf((beforeId) => tunnels.page(accountId, { beforeId, limit: pageSize }))) {
    // Edges name those of labels.
    if (tunnel.labels !== null || isInternal(tunnel.url)) continue;
    if (pace.isDue) await pace.giveWay();
    const guards = await guardsOf(await tunnels.modulesOf(tunnel), 'ip_policy_ids', 'agent_endpoint');
    yield { id: tunnel.id.replace(/^tn_/, 'ep_'), path: '/endpoints', name: tunnel.url, guards };
  }
  const cloud = services.get(cloudEndpointService);
  for await (const { id, url, traffic_policy: value } of allOf((beforeId) =>
    cloud.page(store.queries, accountId, { beforeId, limit: pageSize }),
  )) {
    if (isInternal(url)) continue;
    if (pace.isDue) await pace.giveWay();
    const modules = { traffic_policy: { enabled: true, value } };
    yield { id, path: '/endpoints', name: url, guards: await guardsOf(modules, 'ip_policy_ids', 'agent_endpoint') };
  }
}

/** Endpoints of one account forward to these, and no visitor reaches them. */
function isInternal(url: string): boolean {
  return isInternalName(url.replace(/^[a-z]+:\/\//, '').replace(/:\d+$/, ''));
}

async function* allOf<Entry extends { readonly id: string }>(page: Page<Entry>): AsyncGenerator<Entry> {
  for (let before: string | undefined; ;) {
    const entries = await page(before);
    yield* entries;
    if (entries.length < pageSize) return;
    before = entries.at(-1)?.id;
  }
}

/** Notes what nothing guards, or perhaps nothing. `restricted`: IP restrictions keep somebody out everywhere. */
export async function noteOpenDoors(
  doors: readonly GuardedDoor[],
  admits: ReadonlyMap<string, Admits>,
  found: FindingList,
  pace: Pace,
): Promise<void> {
  for (const { guards, ...door } of doors) {
    if (pace.isDue) await pace.giveWay();
    const word = await openness(guards, admits, pace);
    if (word === 'guarded') continue;
    const kind = word === 'open' ? 'unguarded' : 'cannot_tell';
    found.add(kind, () => ({ kind, door }));
  }
}

async function openness(
  { lists, ranges, spared, asksEverybody, isUnknown }: Guards,
  admits: ReadonlyMap<string, Admits>,
  pace: Pace,
): Promise<'guarded' | 'open' | 'unknown'> {
  const words = lists.map((list) => admits.get(keyOfList(list)));
  if (asksEverybody || words.some((word) => word === 'some' || word === 'nobody')) return 'guarded';
  for (const columns of ranges)
    if (!isEverybody((await finishInTurns(coverRules(columns), pace)).admitted)) return 'guarded';
  const ofSpared = spared.map((list) => admits.get(keyOfList(list)));
  if (ofSpared.some((word) => word === 'some' || word === 'nobody')) return 'guarded';
  return isUnknown || [...words, ...ofSpared].includes(undefined) ? 'unknown' : 'open';
}
