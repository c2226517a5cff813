import { useMemo } from 'react';

import type {
  FailoverBackend,
  HttpResponseBackend,
  StaticBackend,
  TunnelGroupBackend,
  WeightedBackend,
} from '../../../client/src/index.ts';
import { useList } from '../api/queries.ts';
import { countOf, shortId } from '../lib/text.ts';

/** A backend of any kind, as pages name it. */
export interface Backend {
  readonly id: string;
  readonly kind: BackendKind;
  /** Description, or where the backend sends traffic. */
  readonly name: string;
  /** Where it sends traffic. */
  readonly target: string;
  /** A tunnel group without agents. */
  readonly isOffline: boolean;
  /** Backends that it chooses among, in order; those without a weight are left out. */
  readonly members?: readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly created_at: string;
}

export type BackendKind = 'static' | 'tunnel_group' | 'http_response' | 'weighted' | 'failover';

const prefixes: Readonly<Record<string, BackendKind>> = {
  bkdtg: 'tunnel_group',
  bkdhr: 'http_response',
  bkdwd: 'weighted',
  bkdfo: 'failover',
};

/** The kind of backend that the id is one of. */
export function kindOfBackend(id: string): BackendKind {
  return prefixes[id.split('_')[0] ?? ''] ?? 'static';
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

/** Such as "answers 503". */
export function answerText({ status_code }: Pick<HttpResponseBackend, 'status_code'>): string {
  return `answers ${status_code}`;
}

export function weightedText({ backends }: Pick<WeightedBackend, 'backends'>): string {
  return `${countOf(Object.keys(backends).length, 'backend', 'backends')} by weight`;
}

/** Backends that get a share. */
function sharing({ backends }: WeightedBackend): readonly string[] {
  return Object.entries(backends).flatMap(([id, weight]) => (weight > 0 ? [id] : []));
}

export function failoverText({ backends }: Pick<FailoverBackend, 'backends'>): string {
  return `the first of ${countOf(backends.length, 'backend', 'backends')} that can be reached`;
}

function named(
  target: string,
  backend: {
    readonly id: string;
    readonly description?: string;
    readonly created_at: string;
    readonly tunnels?: readonly object[];
  },
  members?: readonly string[],
) {
  const { id, description, created_at } = backend;
  const isOffline = backend.tunnels?.length === 0;
  const name = description === undefined || description === '' ? target : description;
  return { id, kind: kindOfBackend(id), name, target, isOffline, members, description, created_at };
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
  const { data: answers } = useList('HttpResponseBackendsList');
  const { data: weighted } = useList('WeightedBackendsList');
  const { data: failovers } = useList('FailoverBackendsList');
  return useMemo(() => {
    const all =
      statics === undefined || groups === undefined
        ? undefined
        : [
            ...statics.map((each) => named(staticTarget(each), each)),
            ...groups.map((each) => named(groupTarget(each), each)),
            ...(answers ?? []).map((each) => named(answerText(each), each)),
            ...(weighted ?? []).map((each) => named(weightedText(each), each, sharing(each))),
            ...(failovers ?? []).map((each) => named(failoverText(each), each, each.backends)),
          ].toSorted((one, other) => other.created_at.localeCompare(one.created_at));
    const byId = new Map(all?.map((each) => [each.id, each]));
    return {
      all,
      find: (id) =>
        byId.get(id) ?? {
          id,
          kind: kindOfBackend(id),
          name: shortId(id),
          target: '',
          isOffline: false,
          created_at: '',
        },
    };
  }, [statics, groups, answers, weighted, failovers]);
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
  const { data: tlsEdges } = useList('TlsEdgesList');
  const { data: httpsEdges } = useList('HttpsEdgesList');
  const { data: weighted } = useList('WeightedBackendsList');
  const { data: failovers } = useList('FailoverBackendsList');
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
    for (const edge of tlsEdges ?? []) {
      add(edge.backend, { id: edge.id, to: `/tls-edges/${edge.id}`, text: `TLS edge ${edgeName(edge)}` });
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
    const addMembers = (group: Backend, ids: readonly string[], words: string): void => {
      for (const id of ids)
        add(
          { enabled: true, backend: { id } },
          { id: group.id, to: `/backends/${group.id}`, text: `${words} ${group.name}` },
        );
    };
    for (const each of weighted ?? [])
      addMembers(named(weightedText(each), each), Object.keys(each.backends), 'Weighted backend');
    for (const each of failovers ?? []) addMembers(named(failoverText(each), each), each.backends, 'Failover backend');
    return (id) => uses.get(id) ?? [];
  }, [tcpEdges, tlsEdges, httpsEdges, weighted, failovers]);
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
