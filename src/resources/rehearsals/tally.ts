import type { VisitorFacts } from '../../decisions/messages.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { VisitRun } from '../visit-run.ts';
import { wordsOf } from '../visit-words.ts';

/** Visitors that are counted one by one, and those of them that an answer lists. */
const tallyLimits = { visitors: 100_000, listed: 100 };

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
      known.edges.add(edgeId);
    } else if (this.#visitors.size < tallyLimits.visitors) {
      const reason = after === undefined ? '' : wordsOf(after);
      this.#visitors.set(key, { clientIp, person, requests, lastMs, edges: new Set([edgeId]), reason });
    } else this.#isCut = true;
  }

  present(all: number) {
    const visitors = [...this.#visitors.values()];
    const most = visitors.toSorted((a, b) => b.requests - a.requests || (a.clientIp < b.clientIp ? -1 : 1));
    return {
      requests: this.requests,
      share: all === 0 ? 0 : this.requests / all,
      sources: new Set(visitors.map(({ clientIp }) => clientIp)).size,
      persons: new Set(visitors.flatMap(({ person }) => (person === '' ? [] : [person]))).size,
      is_at_least: this.#isCut,
      visitors: most.slice(0, tallyLimits.listed).map(({ clientIp, person, requests, lastMs, edges, reason }) => ({
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
