import { newOperationId } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { Pace } from '../../lib/pace.ts';
import type { ReplayOutcome, ReplayRequest } from '../engine.ts';
import { parseAuthority } from './authority.ts';
import type { Exchange } from './exchange.ts';
import { keptBodyBytes, toMessage } from './inspect-requests.ts';
import { MadeExchange } from './made-exchange.ts';
import type { MadeOutcome } from './made-exchange.ts';
import type { HostTable } from './routing/host-table.ts';

/** The header that tells the backend that a request was sent again, with the id of the first. */
const replayHeader = 'Gatehouse-Replay';
const mostAnswerBytes = 1024 * 1024;
const answerMs = 10_000;
const httpsPort = 443;
const httpPort = 80;

/** Where a replay goes, and what it repeats. */
export interface ReplayOrigin {
  /** The edge or endpoint that the first request came to; the replay goes to no other. */
  readonly edgeId: string;
  readonly operationId: string;
  /** Id of the first request. */
  readonly of: string;
  readonly isEdited: boolean;
}

/** A recorded request that an admin sends again. It has no connection, no certificate and no login but what its headers bring. */
class ReplayExchange extends MadeExchange {
  readonly replay: ReplayOrigin;

  constructor(
    request: ConstructorParameters<typeof MadeExchange>[0],
    replay: ReplayOrigin,
    done: (outcome: MadeOutcome) => void,
  ) {
    super(request, done);
    this.replay = replay;
  }
}

/**
 * Sends a request the way that one of the admin's own would go: every rule is asked, with the address from which the admin has
 * called. Redirects are not followed.
 */
export async function sendAgain(
  request: ReplayRequest,
  hosts: Pick<HostTable, 'all' | 'allPlain'>,
  handle: (exchange: Exchange) => void,
): Promise<ReplayOutcome> {
  const { accountId, edgeId, isTls, host, method, target, headers, of, isEdited } = request;
  const authority = parseAuthority(host);
  const source = parseIp(request.source);
  const serving = authority === undefined ? [] : isTls ? hosts.all(authority.name) : hosts.allPlain(authority.name);
  const isServed = serving.some((edge) => edge.id === edgeId && edge.accountId === accountId);
  // The host may be that of another account by now.
  if (authority === undefined || source === undefined || !isServed) return { state: 'gone' };
  const operationId = newOperationId();
  const startedMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<MadeOutcome>();
  const exchange = new ReplayExchange(
    {
      method,
      target,
      host,
      headers: [...headers, replayHeader, of],
      body: Buffer.from(request.body, 'base64'),
      source,
      servername: isTls ? authority.name : undefined,
      localPort: authority.port ?? (isTls ? httpsPort : httpPort),
      keptBytes: keptBodyBytes,
      mostBytes: mostAnswerBytes,
    },
    { edgeId, operationId, of, isEdited },
    resolve,
  );
  const timer = setTimeout(() => {
    exchange.leave();
  }, answerMs);
  handle(exchange);
  const { head, body, bytes, error } = await promise;
  clearTimeout(timer);
  const durationMs = performance.now() - startedMs;
  if (head === undefined) return { state: 'no_answer', id: operationId, durationMs };
  const answer = { status: head.status, ...(await toMessage(head.headers, body, bytes, new Pace())) };
  return { state: 'answered', id: operationId, durationMs, answer, isWhole: error === undefined };
}
