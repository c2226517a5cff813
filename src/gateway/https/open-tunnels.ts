import type { IpAddress } from '../../lib/ip/address.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import type { HostTable } from './routing/host-table.ts';

/** What a request was let in by. */
export interface Passage {
  readonly host: string;
  readonly edgeId: string;
  readonly routeId: string;
  readonly source: IpAddress;
}

interface Held {
  readonly passage: Passage;
  readonly end: () => void;
}

const ruleKinds: ReadonlySet<string> = new Set(['policy', 'restriction', 'https_edge']);

/**
 * Connections that have changed protocol. A request under way ends with the rules it began with, but these last: when
 * rules change they are asked again, like the connections of TCP edges.
 */
export class OpenTunnels {
  readonly #hosts: HostTable;
  readonly #access: AccessTable;
  readonly #held = new Set<Held>();

  constructor(hosts: HostTable, access: AccessTable) {
    this.#hosts = hosts;
    this.#access = access;
  }

  /** Returns what takes it out again. */
  add(passage: Passage, end: () => void): () => void {
    const held = { passage, end };
    this.#held.add(held);
    return () => this.#held.delete(held);
  }

  /** To be called when the update is in force: ends those that would not be let in now. */
  checkAgain({ full, set, removed }: SnapshotUpdate): void {
    if (this.#held.size === 0) return;
    if (!full && ![...set, ...removed].some(({ kind }) => ruleKinds.has(kind))) return;
    for (const { passage, end } of this.#held) if (!this.admits(passage)) end();
  }

  /** By the rules in force now. */
  admits({ host, edgeId, routeId, source }: Passage): boolean {
    const edge = this.#hosts.find(host);
    if (edge?.id !== edgeId) return false;
    if (this.#access.admit(edge.accountId, 'endpoints', source).refusedBy !== undefined) return false;
    return edge.routes.withId(routeId)?.pipeline.admits(source, this.#access) === true;
  }
}
