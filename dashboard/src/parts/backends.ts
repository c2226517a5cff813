import { useMemo } from 'react';

import type { StaticBackend, TunnelGroupBackend } from '../../../client/src/index.ts';
import { useList } from '../api/queries.ts';
import { shortId } from '../lib/text.ts';

/** A backend of either kind, as pages name it. */
export interface Backend {
  readonly id: string;
  readonly kind: 'static' | 'tunnel_group';
  /** Its description, or where it sends traffic. */
  readonly name: string;
  /** Where it sends traffic. */
  readonly target: string;
  readonly description?: string | undefined;
  readonly created_at: string;
}

/** Labels as they are written in one line: app=shop, site=north. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

function staticTarget({ address, tls }: StaticBackend): string {
  return tls.enabled ? `${address} over TLS` : address;
}

function groupTarget({ labels, tunnels }: TunnelGroupBackend): string {
  return `${labelsText(labels)} (${tunnels.length === 1 ? '1 tunnel' : `${tunnels.length} tunnels`} online)`;
}

function named(
  kind: Backend['kind'],
  target: string,
  { id, description, created_at }: StaticBackend | TunnelGroupBackend,
) {
  const name = description === undefined || description === '' ? target : description;
  return { id, kind, name, target, description, created_at };
}

export interface Backends {
  /** Newest first; undefined while nothing has come. */
  readonly all: readonly Backend[] | undefined;
  readonly find: (id: string) => Backend;
}

/** Every backend, by id. One that is not among them is named by its id. */
export function useBackends(): Backends {
  const { data: statics } = useList('StaticBackendsList');
  const { data: groups } = useList('TunnelGroupBackendsList');
  return useMemo(() => {
    const all =
      statics === undefined || groups === undefined
        ? undefined
        : [
            ...statics.map((each) => named('static', staticTarget(each), each)),
            ...groups.map((each) => named('tunnel_group', groupTarget(each), each)),
          ].toSorted((one, other) => other.created_at.localeCompare(one.created_at));
    const byId = new Map(all?.map((each) => [each.id, each]));
    return {
      all,
      find: (id) =>
        byId.get(id) ?? {
          id,
          kind: id.startsWith('bkdtg_') ? 'tunnel_group' : 'static',
          name: shortId(id),
          target: '',
          created_at: '',
        },
    };
  }, [statics, groups]);
}

/** An edge or route that sends traffic to a backend. */
export interface BackendUse {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly isOn: boolean;
}

/** All that names the backend. The gateway obeys a module only while it is on. */
export function useBackendUses(): (id: string) => readonly BackendUse[] {
  const { data: tcpEdges } = useList('TcpEdgesList');
  const { data: httpsEdges } = useList('HttpsEdgesList');
  return useMemo(() => {
    const uses = new Map<string, BackendUse[]>();
    const add = (
      backend: { enabled: boolean; backend: { id: string } } | null,
      use: Omit<BackendUse, 'isOn'>,
    ): void => {
      if (backend === null) return;
      const { id } = backend.backend;
      uses.set(id, [...(uses.get(id) ?? []), { ...use, isOn: backend.enabled }]);
    };
    for (const edge of tcpEdges ?? []) {
      add(edge.backend, { id: edge.id, to: `/tcp-edges/${edge.id}`, text: `TCP edge ${edgeName(edge)}` });
    }
    for (const edge of httpsEdges ?? []) {
      for (const route of edge.routes) {
        add(route.backend, {
          id: route.id,
          to: `/https-edges/${edge.id}?route=${route.id}`,
          text: `${edgeName(edge)}, route ${route.match}`,
        });
      }
    }
    return (id) => uses.get(id) ?? [];
  }, [tcpEdges, httpsEdges]);
}

/** The fields by which people call an edge. */
export interface NamedEdge {
  readonly id: string;
  readonly description?: string;
  readonly hostports: readonly string[] | null;
}

/** The description of an edge, or where it is reached, or its id. */
export function edgeName({ id, description, hostports }: NamedEdge): string {
  if (description !== undefined && description !== '') return description;
  return hostports?.[0] ?? shortId(id);
}
