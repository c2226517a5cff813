import { useMemo } from 'react';

import { useList } from '../../api/queries.ts';
import { nameOf, restrictionName } from '../../lib/text.ts';
import type { RequestFilter } from '../../parts/past-requests.ts';

export interface PolicyUse {
  readonly to: string;
  readonly name: string;
  readonly note: string;
  /** Past requests that the use can have refused; undefined where it guards no visitors. */
  readonly refused?: RequestFilter;
}

/** Restrictions, edges, routes and keys whose checks name the policy. Rows share one result: it reads five lists. */
export function usePolicyUses(): (policyId: string) => readonly PolicyUse[] {
  const { data: restrictions } = useList('IpRestrictionsList');
  const { data: https } = useList('HttpsEdgesList');
  const { data: tcp } = useList('TcpEdgesList');
  const { data: tls } = useList('TlsEdgesList');
  const { data: keys } = useList('ApiKeysList');
  return useMemo(() => {
    const byPolicy = new Map<string, PolicyUse[]>();
    const note = (use: PolicyUse, policyIds: readonly string[] | undefined): void => {
      for (const id of policyIds ?? []) byPolicy.set(id, [...(byPolicy.get(id) ?? []), use]);
    };
    for (const each of restrictions ?? []) {
      const words = `${each.type} restriction, ${each.enforced ? 'enforced' : 'warns only'}`;
      const use = { to: `/ip-restrictions/${each.id}`, name: restrictionName(each), note: words };
      const guardsVisitors = each.type === 'endpoints' && each.enforced;
      note({ ...use, ...(guardsVisitors ? { refused: { restriction: each.id } } : {}) }, idsOf(each.ip_policies));
    }
    for (const each of tcp ?? []) {
      const use = { to: `/tcp-edges/${each.id}`, name: edgeName(each), note: 'TCP edge', refused: ownModule(each) };
      note(use, idsOf(each.ip_restriction?.ip_policies));
    }
    for (const each of tls ?? []) {
      const use = { to: `/tls-edges/${each.id}`, name: edgeName(each), note: 'TLS edge', refused: ownModule(each) };
      note(use, idsOf(each.ip_restriction?.ip_policies));
    }
    for (const edge of https ?? []) {
      for (const route of edge.routes ?? []) {
        const use = { to: `/https-edges/${edge.id}`, name: `${edgeName(edge)}${route.match}`, note: 'route' };
        const refused = { route: route.id, module: 'ip_restriction' };
        note({ ...use, refused }, idsOf(route.ip_restriction?.ip_policies));
        for (const module of [route.oidc, route.oauth])
          note({ ...use, note: 'sign-in of a route' }, idsOf(module?.ip_policies));
      }
    }
    for (const each of keys ?? []) {
      note({ to: `/api-keys/${each.id}`, name: nameOf(each), note: 'API key' }, each.ip_policy_ids);
    }
    return (policyId) => byPolicy.get(policyId) ?? [];
  }, [restrictions, https, tcp, tls, keys]);
}

function ownModule({ id }: { readonly id: string }): RequestFilter {
  return { edge: id, module: 'ip_restriction' };
}

function idsOf(policies: readonly { readonly id: string }[] | undefined): readonly string[] | undefined {
  return policies?.map(({ id }) => id);
}

function edgeName(edge: { id: string; description?: string; hostports?: readonly string[] | null }): string {
  return edge.hostports?.[0] ?? nameOf(edge);
}
