import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';

import { headersTooLarge, internalError, malformedRequest, requestTimeout } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { newOperationId } from '../../lib/ids.ts';
import { maskTokens } from '../../lib/mask-tokens.ts';
import { ConstraintError, StoreFullError, StoreUnavailableError, WritesStalledError } from '../../store/database.ts';
import { unsupported } from '../body/body.ts';
import type { SocketFault } from '../admission/connection-turns.ts';
import {
  accountBusy,
  bodiesTooLarge,
  bodyIncomplete,
  diskFull,
  filterRowsReached,
  lostRace,
  notReady,
  overloaded,
  principalBusy,
} from '../errors.ts';
import type { VendorWords } from './vendor-words.ts';

/** Time that a client has to read the answer to bytes that are not HTTP. */
const lingerMs = 1000;

/** Errors of a service under load, which are counted and not logged one by one. */
const shedding: ReadonlySet<number> = new Set(
  [overloaded, accountBusy, principalBusy, bodiesTooLarge].map(({ code }) => code),
);

interface ErrorResponses {
  send(request: FastifyRequest, reply: FastifyReply, error: unknown): void;
  /** Answers bytes that are not HTTP, and closes the connection. */
  readonly answerSocket: (fault: SocketFault, socket: Socket) => void;
}

interface RefusalObserver {
  callRefused(reason: string): void;
}

export function createErrorResponses(
  vendor: VendorWords,
  log: FastifyBaseLogger,
  observer: RefusalObserver,
): ErrorResponses {
  const bodyOf = (error: UserError, operationId: string) => ({
    error_code: `${vendor.errorPrefix}${error.code}`,
    status_code: error.status,
    msg: maskTokens(error.message),
    details: { operation_id: operationId },
  });
  return {
    send(request, reply, error) {
      const shown = toUserError(request, error);
      if (error instanceof UserError && error.code === notReady.code)
        // Said, not met: there is no cause that a stack could show.
        log.warn({ operation_id: request.id, reason: error.message }, 'not ready');
      else if (shown.status >= 500 && !shedding.has(shown.code))
        log.error({ operation_id: request.id, err: error }, 'request failed');
      if (shown.code === filterRowsReached.code) observer.callRefused('filter_rows');
      for (const name of vendor.operationHeaders) void reply.header(name, request.id);
      void reply.header('Cache-Control', 'no-store').headers(shown.headers).code(shown.status);
      void reply
        .type('application/json; charset=utf-8')
        .serializer(String)
        .send(JSON.stringify(bodyOf(shown, request.id)));
    },
    answerSocket(fault, socket) {
      const shown = socketFault(fault);
      const operationId = newOperationId();
      const body = JSON.stringify(bodyOf(shown, operationId));
      const headers = vendor.operationHeaders.map((name) => `${name}: ${operationId}\r\n`).join('');
      socket.end(
        `HTTP/1.1 ${shown.status} ${STATUS_CODES[shown.status] ?? ''}\r\n${headers}Content-Type: application/json; charset=utf-8\r\n` +
          `Cache-Control: no-store\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      // Further bytes are read and discarded, or the client would be reset before it has its answer.
      socket.resume();
      setTimeout(() => socket.destroy(), lingerMs).unref();
    },
  };
}

function socketFault({ code, message }: SocketFault): UserError {
  if (message === 'CONNECT') return new UserError(malformedRequest, { reason: 'CONNECT is for proxies' });
  if (code === 'HPE_HEADER_OVERFLOW') return new UserError(headersTooLarge);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new UserError(requestTimeout);
  return new UserError(malformedRequest, { reason: 'its form is broken' });
}

function toUserError(request: FastifyRequest, error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof StoreFullError) return new UserError(diskFull, { 'Retry-After': '10' });
  if (error instanceof StoreUnavailableError) {
    const reason =
      error instanceof WritesStalledError
        ? 'its database takes no writes at the moment, and reading goes on'
        : 'its database cannot be reached';
    return new UserError(notReady, { reason }, { 'Retry-After': '1' });
  }
  // Resources check before they write: a violation means a lost race, and a retry finds the reason.
  if (error instanceof ConstraintError) return new UserError(lostRace);
  return frameworkFault(request, error) ?? new UserError(internalError);
}

function frameworkFault(request: FastifyRequest, error: unknown): UserError | undefined {
  if (!(error instanceof Error)) return undefined;
  switch ('code' in error ? error.code : undefined) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupported('Content-Type', request.headers['content-type'] ?? '');
    case 'ECONNRESET':
      return new UserError(bodyIncomplete);
    default:
      return undefined;
  }
}
