import { Pace } from '../../lib/pace.ts';
import type { Change } from '../../store/write/change-log.ts';
import type { Follower } from '../../store/write/change-feed.ts';
import type { Store } from '../../store/store.ts';
import type { EndsOfCertificates } from './service.ts';
import { tlsCertificates } from './table.ts';
import type { TlsCertificate } from './table.ts';

const dayMs = 86_400_000;
/** Time in which the end of an uploaded certificate is soon: enough to order one and to install it. */
const soonMs = 30 * dayMs;
/** Share of its lifetime in which the end of an issued one is soon: half of the time that is left for its renewal. */
const soonShare = 1 / 6;
/** Lines in one round; one more says how many there are. */
const linesAtOnce = 20;
/** Certificates read at once: each may be large. */
const readAtOnce = 50;

type Dated = Pick<TlsCertificate, 'not_before' | 'not_after' | 'issued_at'>;

interface End {
  readonly endMs: number;
  readonly warnsAtMs: number;
  readonly isIssued: boolean;
}

/** Words about its end for whoever sees the certificate. */
export function warningOfEnd(
  { id, ...certificate }: Dated & { readonly id: string },
  nowMs: number,
): string | undefined {
  const { isIssued, warnsAtMs } = endOf(certificate);
  if (nowMs < warnsAtMs) return undefined;
  const ends = `${id} ends ${certificate.not_after}`;
  if (!isIssued) return `${ends}; upload a new certificate`;
  return `${ends} and was not renewed; answers that show its edge or reserved domain say why`;
}

function endOf({ not_before, not_after, issued_at }: Dated): End {
  const endMs = Date.parse(not_after);
  const isIssued = issued_at !== undefined;
  return { endMs, isIssued, warnsAtMs: endMs - (isIssued ? (endMs - Date.parse(not_before)) * soonShare : soonMs) };
}

const uploadedWords = {
  ended: 'a TLS certificate has ended: upload a new one, and delete it',
  ends: 'a TLS certificate ends soon: upload a new one; the gateway takes the one that is valid longest',
};
const remedy =
  'look for "no certificate:" in the log, which says why; if nothing has its host name any more, delete it';
const issuedWords = {
  ended: `a TLS certificate of the public authority has ended and was not renewed: ${remedy}`,
  ends: `a TLS certificate of the public authority ends soon and was not renewed: ${remedy}`,
};

/** Keeps the end of every in memory, as the change log tells of them. */
export class CertificateEnds implements EndsOfCertificates, Follower {
  readonly #store: Store;
  #ends = new Map<string, End>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads them, follows changes, and logs those that end soon, once a day each. */
  async start(log: { warn(fields: object, message: string): void }): Promise<Disposable> {
    await this.#store.followFromStart(this);
    this.warn(log, Date.now());
    const timer = setInterval(() => {
      this.warn(log, Date.now());
    }, dayMs).unref();
    return {
      [Symbol.dispose]() {
        clearInterval(timer);
      },
    };
  }

  first(count: number): readonly (readonly [id: string, notAfterMs: number])[] {
    return this.#inOrder(this.#ends)
      .slice(0, count)
      .map(([id, { endMs }]) => [id, endMs]);
  }

  soon(nowMs: number): readonly (readonly [id: string, source: 'issued' | 'uploaded'])[] {
    return this.#soon(nowMs).map(([id, { isIssued }]) => [id, isIssued ? 'issued' : 'uploaded']);
  }

  warn(log: { warn(fields: object, message: string): void }, nowMs: number): void {
    const soon = this.#soon(nowMs);
    for (const [id, { endMs, isIssued }] of soon.slice(0, linesAtOnce)) {
      const days = Math.floor((endMs - nowMs) / dayMs);
      const words = isIssued ? issuedWords : uploadedWords;
      log.warn(
        { certificate_id: id, not_after: new Date(endMs).toISOString(), days_left: days },
        days < 0 ? words.ended : words.ends,
      );
    }
    if (soon.length > linesAtOnce)
      log.warn({ certificates: soon.length }, 'more TLS certificates have ended or end soon');
  }

  #soon(nowMs: number): readonly (readonly [id: string, end: End])[] {
    return this.#inOrder([...this.#ends].filter(([, { warnsAtMs }]) => warnsAtMs <= nowMs));
  }

  #inOrder(ends: Iterable<readonly [string, End]>): readonly (readonly [id: string, end: End])[] {
    return [...ends].toSorted(([, one], [, other]) => one.endMs - other.endMs);
  }

  changed(changes: readonly Change[]): void {
    for (const { kind, id, after } of changes) {
      if (kind !== tlsCertificates.kind) continue;
      if (after === null) this.#ends.delete(id);
      else this.#ends.set(id, endOf(tlsCertificates.parse([after])));
    }
  }

  async reset(): Promise<void> {
    const ends = new Map<string, End>();
    const pace = new Pace();
    const sql = 'SELECT document FROM tls_certificates WHERE id > $1 ORDER BY id LIMIT $2';
    for (let last = ''; ;) {
      const rows = await this.#store.queries.all(sql, [last, readAtOnce]);
      for (const row of rows) {
        const certificate = tlsCertificates.parse(row);
        last = certificate.id;
        ends.set(last, endOf(certificate));
      }
      if (rows.length < readAtOnce) break;
      if (pace.isDue) await pace.giveWay();
    }
    this.#ends = ends;
  }
}
