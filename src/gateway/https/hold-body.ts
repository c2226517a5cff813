import { heldBodiesInUse, requestTimeout } from '../../errors/shared.ts';
import { retryLater, UserError } from '../../errors/user-error.ts';
import { GrowingBuffer } from '../../lib/growing-buffer.ts';
import { findHeader } from '../../lib/header-list.ts';
import type { HeldBodies } from '../bounds/held-bodies.ts';
import { heldBodyTooLarge } from '../errors.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import type { Exchange } from './exchange.ts';
import { hasBytes } from './upstream/request-body-pump.ts';

/** Time in which a body that is held must be whole. */
const wholeMs = 30_000;

interface HoldParts {
  readonly exchange: Exchange;
  readonly accountId: string;
  readonly maxBytes: number;
  readonly bodies: HeldBodies;
  /** Gives the room back at the end of the exchange. */
  readonly log: AccessLogEntry;
  readonly done: (body: Buffer) => void;
  readonly fail: (error: UserError) => void;
}

/** Reads a body to its end and keeps it. The caller sets `onClose` again once `done` or `fail` was called. */
export function holdBody({ exchange, accountId, maxBytes, bodies, log, done, fail }: HoldParts): void {
  const { body, bodySource } = exchange;
  if (!hasBytes(body)) {
    done(Buffer.alloc(0));
    return;
  }
  const tooLarge = (): UserError => new UserError(heldBodyTooLarge, { bytes: maxBytes });
  if (typeof body === 'object' && body.length > maxBytes) {
    fail(tooLarge());
    return;
  }
  const held = new GrowingBuffer(maxBytes);
  // Memory that is held, which is what counts: bytes may come in any pieces.
  let counted = 0;
  const refuse = (error: UserError): void => {
    clearTimeout(timer);
    held.take();
    // The rest is read and dropped, so that the client sees its answer.
    bodySource.drop();
    fail(error);
  };
  const onBytes = (bytes: Buffer): void => {
    if (held.length + bytes.length > maxBytes) {
      refuse(tooLarge());
      return;
    }
    const more = held.capacityWith(bytes.length) - counted;
    if (more > 0 && !log.hold(bodies, accountId, more)) {
      refuse(new UserError(heldBodiesInUse, retryLater));
      return;
    }
    counted += Math.max(0, more);
    held.add(bytes);
  };
  const timer = setTimeout(() => {
    refuse(new UserError(requestTimeout));
  }, wholeMs);
  const { onClose } = exchange;
  exchange.onClose = () => {
    clearTimeout(timer);
    onClose?.();
  };
  if (findHeader(exchange.headers, 'expect') !== undefined) exchange.sendInterim(100, 'Continue', []);
  bodySource.read(onBytes, () => {
    clearTimeout(timer);
    done(held.take());
  });
}
