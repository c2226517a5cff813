import { GrowingBuffer } from '../../lib/growing-buffer.ts';
import { findHeader } from '../../lib/header-list.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { bodyText, maskBodySteps, maskHeadersSteps } from '../../lib/masking/mask-message.ts';
import { maskTargetSteps } from '../../lib/masking/mask-text.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { InspectedMessage, InspectionTerms, TrafficObserver } from '../engine.ts';
import type { RequestVisit } from './request-visit.ts';

/** Bytes of each body that are kept; secrets are looked for in so much at once. */
export const keptBodyBytes = 16 * 1024;
/** Characters of a target and of the value of a header, and headers, that are kept. */
const keptTarget = 4096;
const keptValue = 1024;
const keptHeaders = 100;
/** Requests that one process records at the same time, and that begin within a second; accounts that inspect share them. */
const mostOpen = 64;
const mostInSecond = 20;
const secondMs = 1000;

/** Records of one account. */
interface Share {
  open: number;
  /** Number of the second in which so many have begun. */
  second: number;
  begun: number;
}

/** Records requests of the routes, edges and endpoints that are inspected. Nothing that it does changes or delays what passes. */
export class RequestInspector {
  readonly #observer: TrafficObserver;
  /** By the id of what is inspected. Undefined: nothing is, and a request costs a look at this field. */
  #terms: ReadonlyMap<string, InspectionTerms> | undefined;
  readonly #shares = new Map<string, Share>();
  #accounts = 1;
  /** Requests that were not recorded, by inspection. */
  #leftOut = new Map<string, number>();

  constructor(observer: TrafficObserver) {
    this.#observer = observer;
  }

  set(terms: readonly InspectionTerms[]): void {
    this.#terms = terms.length === 0 ? undefined : new Map(terms.map((each) => [each.subjectId, each]));
    const accounts = new Set(terms.map(({ accountId }) => accountId));
    this.#accounts = Math.max(1, accounts.size);
    for (const [accountId, { open }] of this.#shares)
      if (open === 0 && !accounts.has(accountId)) this.#shares.delete(accountId);
    this.#leftOut = new Map(terms.map(({ id }) => [id, this.#leftOut.get(id) ?? 0]));
  }

  /** Undefined for a request that nobody inspects, or that is one too many for the account. */
  begin(visit: RequestVisit): RequestRecord | undefined {
    if (this.#terms === undefined) return undefined;
    const terms = this.#find(visit);
    if (terms === undefined) return undefined;
    const { id, accountId } = terms;
    const share = this.#shares.get(accountId) ?? { open: 0, second: 0, begun: 0 };
    this.#shares.set(accountId, share);
    const second = Math.floor(performance.now() / secondMs);
    if (second !== share.second) [share.second, share.begun] = [second, 0];
    if (share.open >= this.#shareOf(mostOpen) || share.begun >= this.#shareOf(mostInSecond)) {
      this.#leftOut.set(id, (this.#leftOut.get(id) ?? 0) + 1);
      return undefined;
    }
    share.begun++;
    share.open++;
    return new RequestRecord(visit, (record, isTold) => {
      // It may have ended, or been ended, while the request was open.
      const isInspected = (): boolean => isTold && this.#find(visit)?.id === id;
      if (!isInspected()) share.open--;
      else
        this.#tell(record, terms, isInspected)
          .catch(() => this.#leftOut.set(id, (this.#leftOut.get(id) ?? 0) + 1))
          .finally(() => share.open--);
    });
  }

  /** Masks in slices: other visitors do not wait for it. */
  async #tell(record: RequestRecord, { id, accountId }: InspectionTerms, isInspected: () => boolean): Promise<void> {
    const finished = await record.finish();
    if (!isInspected()) return;
    const leftOut = this.#leftOut.get(id) ?? 0;
    this.#leftOut.set(id, 0);
    this.#observer.inspected({ ...finished, inspectionId: id, accountId, leftOut });
  }

  #shareOf(most: number): number {
    return Math.max(1, Math.floor(most / this.#accounts));
  }

  /** What inspects the route, edge or endpoint, or one that has forwarded the visit there. */
  #find(visit: RequestVisit): InspectionTerms | undefined {
    for (let at: RequestVisit | undefined = visit; at !== undefined; at = at.from) {
      const found = this.#terms?.get(at.ownerId) ?? this.#terms?.get(at.edgeId);
      if (found !== undefined && found.accountId === at.accountId && Date.now() < found.endsAtMs) return found;
    }
    return undefined;
  }
}

/** A request that is recorded, from when its checks have let it pass. */
export class RequestRecord {
  readonly #visit: RequestVisit;
  readonly #done: (record: RequestRecord, isTold: boolean) => void;
  readonly #atMs = Date.now();
  readonly #startMs = performance.now();
  readonly #request = new GrowingBuffer(keptBodyBytes);
  readonly #answer = new GrowingBuffer(keptBodyBytes);
  #requestBytes = 0;
  #answerBytes = 0;
  #status: number | undefined;
  #headers: readonly string[] = [];
  #isWhole = false;
  #isOver = false;

  constructor(visit: RequestVisit, done: (record: RequestRecord, isTold: boolean) => void) {
    this.#visit = visit;
    this.#done = done;
  }

  requestBody(bytes: Buffer): void {
    this.#requestBytes += bytes.length;
    keep(this.#request, bytes);
  }

  /** The head of the answer, as the backend gave it. */
  answered(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
  }

  answerBody(bytes: Buffer): void {
    this.#answerBytes += bytes.length;
    keep(this.#answer, bytes);
  }

  /** All of the answer has come. */
  whole(): void {
    this.#isWhole = true;
  }

  end(): void {
    this.#close(true);
  }

  /** Another goes on with the request, and records it. Nothing happens if it has ended. */
  drop(): void {
    this.#close(false);
  }

  #close(isTold: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#done(this, isTold);
  }

  /** What is told of it: secrets are masked before it leaves here. */
  async finish() {
    const { exchange, source, edgeId, ownerId, log, first } = this.#visit;
    const { replay } = exchange;
    const status = this.#status;
    const durationMs = performance.now() - this.#startMs;
    const pace = new Pace();
    const target = await finishInTurns(maskTargetSteps(exchange.target.slice(0, keptTarget)), pace);
    const request = await toMessage(exchange.headers, this.#request.bytes, this.#requestBytes, pace);
    const answer = await toMessage(this.#headers, this.#answer.bytes, this.#answerBytes, pace);
    return {
      id: log.operationId,
      atMs: this.#atMs,
      edgeId,
      routeId: ownerId,
      source: formatIp(source),
      method: exchange.method.slice(0, 40),
      target,
      host: (exchange.host ?? '').slice(0, 300),
      protocol: exchange.protocol,
      request,
      answer: status === undefined ? undefined : { status, ...answer },
      durationMs,
      isWhole: this.#isWhole,
      entryId: first.edgeId,
      isTls: exchange.client.servername !== undefined,
      isHeadWhole:
        exchange.target.length <= keptTarget &&
        exchange.headers.length <= keptHeaders * 2 &&
        exchange.headers.every((text) => text.length <= keptValue),
      replayOf: replay && { id: replay.of, isEdited: replay.isEdited },
    };
  }
}

function keep(kept: GrowingBuffer, bytes: Buffer): void {
  const room = keptBodyBytes - kept.length;
  if (room > 0 && bytes.length > 0) kept.add(bytes.subarray(0, room));
}

/** The start of a message, with secrets masked in slices. */
export async function toMessage(
  headers: readonly string[],
  kept: Buffer,
  bytes: number,
  pace: Pace,
): Promise<InspectedMessage> {
  const shown = headers.slice(0, keptHeaders * 2).map((text) => text.slice(0, keptValue));
  const type = findHeader(headers, 'content-type') ?? '';
  const read = bodyText(kept, findHeader(headers, 'content-encoding') ?? '', bytes > kept.length, keptBodyBytes);
  return {
    headers: await finishInTurns(maskHeadersSteps(shown), pace),
    bodyBytes: bytes,
    ...(bytes > 0 && read !== undefined && { body: await finishInTurns(maskBodySteps(read.text, type), pace) }),
    isBodyWhole: read?.isWhole ?? bytes === kept.length,
  };
}
