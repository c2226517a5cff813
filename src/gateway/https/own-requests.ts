import {
  requestBroken,
  requestLoop,
  requestTooLongAnswer,
  requestTimedOut,
  tooManyRequests,
} from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { isInternalName } from '../../lib/endpoint-url.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { mostOwnRequests } from '../../modules/step.ts';
import type { OwnRequest, RequestAnswer, RequestVisit as StepVisit, StepServices } from '../../modules/step.ts';
import { AnswerTooLarge } from '../../sign-in/guarded-fetch.ts';
import type { Fetch, FetchFor } from '../../sign-in/guarded-fetch.ts';
import { AnswerTooLong } from './made-exchange.ts';
import { OwnExchange } from './own-exchange.ts';
import type { OwnOrigin } from './own-exchange.ts';
import type { Exchange } from './exchange.ts';
import type { RequestVisit } from './request-visit.ts';

/** Requests of rules that may lead to one another, and those of all rules for one visitor. */
const mostDepth = 3;
const mostForVisitor = mostOwnRequests;

/** A visit as the gateway has made it. */
type AskingVisit = StepVisit & Pick<RequestVisit, 'exchange' | 'hold'>;

/** Makes requests of rules, to internal endpoints and to servers that the operator has named. */
export class OwnRequests {
  readonly #handle: (exchange: Exchange) => void;
  readonly #fetchFor: FetchFor;
  /** Requests that have led to others wait for them: each depth has turns of its own. */
  readonly #turns = Array.from({ length: mostDepth }, () => new FairTurns({ atOnce: 2000, ofOwner: 20, waiting: 100 }));
  readonly #left = new WeakMap<object, OwnOrigin['left']>();
  /** Requests whose visitors have left. */
  readonly #gone = new WeakSet<object>();

  /** `fetchFor` refuses addresses that lead inwards. */
  constructor(handle: (exchange: Exchange) => void, fetchFor: FetchFor) {
    this.#handle = handle;
    this.#fetchFor = fetchFor;
  }

  /** Rejects with a `UserError`. */
  readonly send: StepServices['requests']['send'] = async (visit, request) => {
    const { accountId, source, countedSource: counted } = visit;
    const { exchange } = visit as AskingVisit;
    const before = exchange.own;
    const depth = (before?.depth ?? 0) + 1;
    const left = before?.left ?? this.#leftOf(exchange);
    const turns = this.#turns[depth - 1];
    if (turns === undefined) throw new UserError(requestLoop, { limit: mostDepth });
    if (left.requests <= 0) throw new UserError(tooManyRequests, { limit: mostForVisitor });
    left.requests -= 1;
    const own = { accountId, endpoint: endpointOf(request.url), source, counted, depth, left };
    // Whoever has left gets no further attempt either, and nothing is asked for them that waits for its turn.
    let isOver = this.#gone.has(exchange);
    let asked: OwnExchange | undefined;
    const leaving = new AbortController();
    const { promise: late, reject: giveUp } = Promise.withResolvers<never>();
    late.catch(() => {});
    const end = (): void => {
      isOver = true;
      giveUp(new UserError(requestTimedOut));
      asked?.leave();
      leaving.abort();
    };
    const { onClose } = exchange;
    const leave = (): void => {
      this.#gone.add(exchange);
      end();
      onClose?.();
    };
    exchange.onClose = leave;
    const timer = setTimeout(end, request.timeoutMs);
    try {
      const asking = turns.run(accountId, () => {
        if (isOver) throw new UserError(requestTimedOut);
        if (!isInternalName(request.url.hostname)) return askServer(this.#fetchFor(accountId), request, leaving.signal);
        const { promise, resolve } = Promise.withResolvers<RequestAnswer | Error>();
        asked = new OwnExchange(request, own, resolve);
        this.#handle(asked);
        return promise;
      });
      asking.catch(() => {});
      const answer = answerOf(await Promise.race([asking, late]), request);
      // Rules keep both until the visit is over, which may be in days.
      (visit as AskingVisit).hold(sizeOf(request) + sizeOf(answer));
      return answer;
    } catch (error) {
      if (error instanceof TooMuchWaits) throw new UserError(tooManyRequests, { limit: mostForVisitor });
      throw error;
    } finally {
      clearTimeout(timer);
      if (exchange.onClose === leave) exchange.onClose = onClose;
    }
  };

  #leftOf(exchange: object): OwnOrigin['left'] {
    const known = this.#left.get(exchange) ?? { requests: mostForVisitor };
    this.#left.set(exchange, known);
    return known;
  }
}

async function askServer(
  fetch: Fetch,
  { url, method, headers, body, maxBytes }: OwnRequest,
  signal: AbortSignal,
): Promise<RequestAnswer | Error> {
  const fields: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) fields[headers[at] ?? ''] = headers[at + 1] ?? '';
  try {
    const text = body.length === 0 ? undefined : body.toString('utf8');
    const answer = await fetch(url.href, { method, headers: fields, body: text, signal, maxBytes });
    return {
      status: answer.status,
      headers: [...answer.headers].flat(),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  } catch (error) {
    if (error instanceof AnswerTooLarge) return new AnswerTooLong();
    return error instanceof Error ? error : new Error(String(error));
  }
}

function answerOf(answer: RequestAnswer | Error, { maxBytes }: OwnRequest): RequestAnswer {
  if (answer instanceof AnswerTooLong) throw new UserError(requestTooLongAnswer, { bytes: maxBytes });
  if (answer instanceof UserError) throw answer;
  if (answer instanceof Error) throw new UserError(requestBroken);
  return answer;
}

function sizeOf({ headers, body }: OwnRequest | RequestAnswer): number {
  return headers.reduce((size, text) => size + text.length, body.length);
}

function endpointOf({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}
