import { callAt } from '../../lib/call-at.ts';
import { Pace } from '../../lib/pace.ts';
import { holdsUntil } from '../../modules/run-steps.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import { AskedAgain } from '../bounds/asked-again.ts';
import type { RequestVisit } from './request-visit.ts';
import type { Edge, HostTable } from './routing/host-table.ts';

interface OpenTunnel {
  /** Counts up. */
  readonly number: number;
  readonly visit: RequestVisit;
  readonly end: () => void;
  untilMs: number;
  callOff: () => void;
}

const ruleKinds: ReadonlySet<string> = new Set([
  'policy',
  'restriction',
  'https_edge',
  'internal_endpoint',
  'ended_session',
  'vault',
  'vault_secret',
]);

/**
 * Connections that last longer than a request: those that have changed protocol, and streams of events. A request under way
 * ends with the rules it began with, but these may last for days: they end at the time that the steps of their route say, which
 * are asked again when rules change, like those of the connections of TCP edges.
 */
export class OpenTunnels {
  readonly #hosts: HostTable;
  readonly #access: AccessTable;
  readonly #open = new Set<OpenTunnel>();
  #count = 0;
  /** Rules have changed since the tunnels were asked. */
  #isDue = false;

  constructor(hosts: HostTable, access: AccessTable) {
    this.#hosts = hosts;
    this.#access = access;
  }

  /** Returns a function that removes the tunnel. */
  add(visit: RequestVisit, end: () => void): () => void {
    const tunnel = { number: ++this.#count, visit, end, untilMs: Infinity, callOff: () => {} };
    this.#open.add(tunnel);
    follow(tunnel, this.#askAgain(visit));
    return () => {
      tunnel.callOff();
      this.#open.delete(tunnel);
    };
  }

  /** Takes note of an update with rules. */
  follow({ full, set, removed }: SnapshotUpdate): void {
    const isOfRules = ({ kind }: { readonly kind: string }) => ruleKinds.has(kind);
    this.#isDue ||= full || set.some(isOfRules) || removed.some(isOfRules);
  }

  /** Ends the tunnels that the rules no longer admit. Must be called when the update is in force. */
  async checkAgain(): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = false;
    await this.#checkEach(() => true);
  }

  /** Ends the tunnels of these accounts whose sessions are over, which the snapshot may not say yet. */
  checkSessions(accounts: ReadonlySet<string>): Promise<void> {
    return this.#checkEach(({ visit }) => accounts.has(visit.accountId));
  }

  async #checkEach(isConcerned: (tunnel: OpenTunnel) => boolean): Promise<void> {
    const last = this.#count;
    const pace = new Pace();
    const asked = new AskedAgain();
    // Tunnels that come meanwhile stand behind these, and are decided by the rules in force now.
    for (const tunnel of this.#open) {
      if (tunnel.number > last) break;
      if (isConcerned(tunnel)) this.#check(tunnel, asked);
      if (pace.isDue) await pace.giveWay();
    }
  }

  #check(tunnel: OpenTunnel, asked: AskedAgain): void {
    const { visit } = tunnel;
    const untilMs = asked.untilOf(visit, () => this.#holdsUntil(visit));
    if (untilMs === 0) tunnel.end();
    else follow(tunnel, untilMs);
  }

  /** Decides by the rules in force now. */
  admits(visit: RequestVisit): boolean {
    return this.#askAgain(visit) > 0;
  }

  /** A connection may be asked for days: each time it may cost as much as a visit. */
  #askAgain(visit: RequestVisit): number {
    visit.budget.renew();
    return this.#holdsUntil(visit);
  }

  #holdsUntil(visit: RequestVisit): number {
    const { from, edgeId, ownerId, accountId } = visit;
    const edge = this.#serving(visit).find(({ id }) => id === edgeId);
    if (edge === undefined || edge.accountId !== accountId) return 0;
    if (this.#access.admit(edge.accountId, 'endpoints', visit.source).refusedBy !== undefined) return 0;
    const list = edge.routes.withId(ownerId)?.list;
    const untilMs = list === undefined ? 0 : holdsUntil(list.steps, visit);
    return from === undefined || untilMs === 0 ? untilMs : Math.min(untilMs, this.#holdsUntil(from));
  }

  /** Endpoints that now serve what the visit came to. */
  #serving({ from, hostname, exchange, accountId }: RequestVisit): readonly Edge[] {
    if (from !== undefined) return this.#hosts.internal.find(accountId, from.forwarding?.forward.url ?? '');
    const { own } = exchange;
    if (own !== undefined) return this.#hosts.internal.find(own.accountId, own.endpoint);
    return exchange.client.servername === undefined ? this.#hosts.allPlain(hostname) : this.#hosts.all(hostname);
  }
}

function follow(tunnel: OpenTunnel, untilMs: number): void {
  if (untilMs === tunnel.untilMs) return;
  tunnel.callOff();
  tunnel.untilMs = untilMs;
  tunnel.callOff = untilMs === Infinity ? () => {} : callAt(untilMs, tunnel.end);
}
