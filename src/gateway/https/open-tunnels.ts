import type { IpAddress } from '../../lib/ip/address.ts';
import type { HeaderList } from '../../modules/module.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import { checkShownCertificate } from '../tls/shown-certificate.ts';
import type { ShownCertificate } from '../tls/shown-certificate.ts';
import type { Tokens } from '../sign-in/tokens.ts';
import type { Visitors } from '../sign-in/visitors.ts';
import type { HostTable } from './routing/host-table.ts';

/** The edge and route by which a request was let in, its source, its headers and what its handshake has shown. */
export interface AdmittedBy {
  readonly host: string;
  /** The same, with a port where it is not the usual one. */
  readonly hostport: string;
  readonly edgeId: string;
  readonly routeId: string;
  readonly source: IpAddress;
  readonly headers: HeaderList;
  readonly certificate: ShownCertificate | undefined;
  readonly isTls13: boolean;
}

interface OpenTunnel {
  readonly admittedBy: AdmittedBy;
  readonly end: () => void;
}

const ruleKinds: ReadonlySet<string> = new Set(['policy', 'restriction', 'https_edge', 'ended_session']);

/**
 * Connections that have changed protocol. A request under way ends with the rules it began with, but a tunnel may last for
 * days: when rules change it is checked again, like the connections of TCP edges.
 */
export class OpenTunnels {
  readonly #hosts: HostTable;
  readonly #access: AccessTable;
  readonly #visitors: Pick<Visitors, 'mayStay'>;
  readonly #tokens: Pick<Tokens, 'mayStay'>;
  readonly #open = new Set<OpenTunnel>();

  constructor(
    hosts: HostTable,
    access: AccessTable,
    visitors: Pick<Visitors, 'mayStay'>,
    tokens: Pick<Tokens, 'mayStay'>,
  ) {
    this.#hosts = hosts;
    this.#access = access;
    this.#visitors = visitors;
    this.#tokens = tokens;
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
  admits({ host, hostport, edgeId, routeId, source, headers, certificate, isTls13 }: AdmittedBy): boolean {
    const edge = this.#hosts.find(host);
    if (edge?.id !== edgeId) return false;
    if (this.#access.admit(edge.accountId, 'endpoints', source).refusedBy !== undefined) return false;
    const pipeline = edge.routes.withId(routeId)?.pipeline;
    if (pipeline?.admits(source, this.#access) !== true) return false;
    if (pipeline.needsTls13 && !isTls13) return false;
    // What such a connection carries is not signed.
    if (pipeline.bodyCheck !== undefined) return false;
    if (checkShownCertificate(pipeline.clientCa, certificate) !== undefined) return false;
    if (pipeline.refuses?.(headers) !== undefined) return false;
    if (pipeline.tokenRule !== undefined && !this.#tokens.mayStay(pipeline.tokenRule, headers)) return false;
    const { accountId } = edge;
    const visit = { accountId, edgeId, headers, host: hostport, source };
    return pipeline.signIns.length === 0 || this.#visitors.mayStay(visit, pipeline.signIns, this.#access);
  }
}
