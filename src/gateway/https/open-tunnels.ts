import type { IpAddress } from '../../lib/ip/address.ts';
import type { HeaderList } from '../../modules/module.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import { checkShownCertificate } from '../tls/shown-certificate.ts';
import type { ShownCertificate } from '../tls/shown-certificate.ts';
import type { HostTable } from './routing/host-table.ts';

/** The edge and route by which a request was let in, its source, its headers and the certificate of its client. */
export interface AdmittedBy {
  readonly host: string;
  readonly edgeId: string;
  readonly routeId: string;
  readonly source: IpAddress;
  readonly headers: HeaderList;
  readonly certificate: ShownCertificate | undefined;
}

interface OpenTunnel {
  readonly admittedBy: AdmittedBy;
  readonly end: () => void;
}

const ruleKinds: ReadonlySet<string> = new Set(['policy', 'restriction', 'https_edge']);

/**
 * Connections that have changed protocol. A request under way ends with the rules it began with, but a tunnel may last for
 * days: when rules change it is checked again, like the connections of TCP edges.
 */
export class OpenTunnels {
  readonly #hosts: HostTable;
  readonly #access: AccessTable;
  readonly #open = new Set<OpenTunnel>();

  constructor(hosts: HostTable, access: AccessTable) {
    this.#hosts = hosts;
    this.#access = access;
  }

  /** Returns a function that removes the tunnel. */
  add(admittedBy: AdmittedBy, end: () => void): () => void {
    const tunnel = { admittedBy, end };
    this.#open.add(tunnel);
    return () => this.#open.delete(tunnel);
  }

  /** Ends the tunnels that the rules no longer admit. Must be called when the update is in force. */
  checkAgain({ full, set, removed }: SnapshotUpdate): void {
    if (this.#open.size === 0) return;
    if (!full && ![...set, ...removed].some(({ kind }) => ruleKinds.has(kind))) return;
    for (const { admittedBy, end } of this.#open) if (!this.admits(admittedBy)) end();
  }

  /** Decides by the rules in force now. */
  admits({ host, edgeId, routeId, source, headers, certificate }: AdmittedBy): boolean {
    const edge = this.#hosts.find(host);
    if (edge?.id !== edgeId) return false;
    if (this.#access.admit(edge.accountId, 'endpoints', source).refusedBy !== undefined) return false;
    const pipeline = edge.routes.withId(routeId)?.pipeline;
    if (pipeline?.admits(source, this.#access) !== true) return false;
    if (checkShownCertificate(pipeline.clientCa, certificate) !== undefined) return false;
    return pipeline.refuses?.(headers) === undefined;
  }
}
