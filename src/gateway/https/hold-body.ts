import { requestTimeout } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { HeldBodies } from '../bounds/held-bodies.ts';
import { heldBodiesInUse, heldBodyTooLarge } from '../errors.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import type { Exchange } from './exchange.ts';
import { findHeader } from './headers/header-list.ts';
import { hasBytes } from './upstream/request-body-pump.ts';

/** Time in which a body that is held must be whole. */
const wholeMs = 30_000;

/** Headers of an answer to a request for whose body there is no room; in seconds. */
const retryLater = { 'Retry-After': '1' };

interface HoldParts {
  readonly exchange: Exchange;
  readonly accountId: string;
  readonly maxBytes: number;
  readonly bodies: HeldBodies;
  /** Its report, at the end of the exchange, gives the room back. */
  readonly log: AccessLogEntry;
  readonly done: (body: Buffer) => void;
  readonly fail: (error: UserError) => void;
}

/** Reads a body to its end and keeps it. The caller sets `onClose` again once `done` or `fail` was called. */
export function holdBody({ exchange, accountId, maxBytes, bodies, log, done, fail }: HoldParts): void {
  const { body, bodyStream } = exchange;
  if (!hasBytes(body)) {
    done(Buffer.alloc(0));
    return;
  }
  const tooLarge = (): UserError => new UserError(heldBodyTooLarge, { bytes: maxBytes });
  if (typeof body === 'object' && body.length > maxBytes) {
    fail(tooLarge());
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let counted = 0;
  log.held = () => {
    bodies.release(accountId, counted);
    counted = 0;
  };
  const stop = (): void => {
    clearTimeout(timer);
    bodyStream.off('data', onData);
    bodyStream.off('end', onEnd);
  };
  const refuse = (error: UserError): void => {
    stop();
    chunks.length = 0;
    // The rest is read and dropped, so that the client sees its answer.
    bodyStream.resume();
    fail(error);
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      refuse(tooLarge());
      return;
    }
    if (!bodies.add(accountId, chunk.length)) {
      refuse(new UserError(heldBodiesInUse, retryLater));
      return;
    }
    counted += chunk.length;
    chunks.push(chunk);
  };
  const onEnd = (): void => {
    stop();
    done(Buffer.concat(chunks));
  };
  const timer = setTimeout(() => {
    refuse(new UserError(requestTimeout));
  }, wholeMs);
  const { onClose } = exchange;
  exchange.onClose = () => {
    stop();
    onClose?.();
  };
  bodyStream.on('data', onData);
  bodyStream.on('end', onEnd);
  if (findHeader(exchange.headers, 'expect') !== undefined) exchange.sendInterim(100, 'Continue', []);
}
