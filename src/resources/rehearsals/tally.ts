import type { VisitorFacts } from '../../decisions/messages.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Pace } from '../../lib/pace.ts';
import type { VisitRun } from '../visit-run.ts';
import { wordsOf } from '../visit-words.ts';

/** Visitors that are counted one by one, those of them that an answer lists, and edges that it names for each. */
const tallyLimits = { visitors: 100_000, listed: 100, edges: 50 };

interface Noticed {
  readonly clientIp: string;
  readonly person: string;
  requests: number;
  lastMs: number;
  readonly edges: Set<string>;
  readonly reason: string;
}

/** Visitors who would notice a change in the same way. */
export class Tally {
  requests = 0;
  readonly #visitors = new Map<string, Noticed>();
  #isCut = false;

  add(
    { edgeId, person }: VisitorFacts,
    source: IpAddress,
    after: VisitRun | undefined,
    requests: number,
    lastMs: number,
  ): void {
    this.requests += requests;
    const clientIp = formatIp(source);
    const key = `${clientIp} ${person}`;
    const known = this.#visitors.get(key);
    if (known !== undefined) {
      known.requests += requests;
      known.lastMs = Math.max(known.lastMs, lastMs);
      if (known.edges.size < tallyLimits.edges) known.edges.add(edgeId);
    } else if (this.#visitors.size < tallyLimits.visitors) {
      const reason = after === undefined ? '' : wordsOf(after);
      this.#visitors.set(key, { clientIp, person, requests, lastMs, edges: new Set([edgeId]), reason });
    } else this.#isCut = true;
  }

  async present(all: number, pace: Pace) {
    const [sources, persons] = [new Set<string>(), new Set<string>()];
    const most: Noticed[] = [];
    for (const visitor of this.#visitors.values()) {
      if (pace.isDue) await pace.giveWay();
      sources.add(visitor.clientIp);
      if (visitor.person !== '') persons.add(visitor.person);
      const last = most.at(-1);
      if (most.length === tallyLimits.listed && last !== undefined && inOrder(last, visitor) <= 0) continue;
      const place = most.findIndex((each) => inOrder(each, visitor) > 0);
      most.splice(place < 0 ? most.length : place, 0, visitor);
      if (most.length > tallyLimits.listed) most.pop();
    }
    return {
      requests: this.requests,
      share: all === 0 ? 0 : this.requests / all,
      sources: sources.size,
      persons: persons.size,
      is_at_least: this.#isCut,
      visitors: most.map(({ clientIp, person, requests, lastMs, edges, reason }) => ({
        client_ip: clientIp,
        ...(person === '' ? {} : { person }),
        requests,
        last_at: toTimestamp(lastMs),
        edge_ids: [...edges].toSorted(),
        reason,
      })),
    };
  }
}

/** Most requests first. */
function inOrder(a: Noticed, b: Noticed): number {
  return b.requests - a.requests || (a.clientIp < b.clientIp ? -1 : a.clientIp > b.clientIp ? 1 : 0);
}
