import type { FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { GrowingBuffer } from '../../lib/growing-buffer.ts';
import { bodyIncomplete, bodyTooLarge } from '../errors.ts';

/**
 * Reads a body whole, into a buffer that never gets larger than the bytes that were announced, which is what the budget of
 * the caller counts: a list of its pieces would take 200 bytes for each, however small they are.
 */
export function readBody(request: FastifyRequest, done: (fault: Error | undefined, body?: Buffer) => void): void {
  const { raw, headers } = request;
  const { bodyLimit } = request.routeOptions;
  const announced = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  const tooLarge = () => new UserError(bodyTooLarge, { limit: bodyLimit });
  if (announced !== undefined && announced > bodyLimit) {
    done(tooLarge());
    return;
  }
  const body = new GrowingBuffer(announced ?? bodyLimit);
  const finish = (fault: Error | undefined) => {
    raw.off('data', take).off('end', end).off('error', fail);
    done(fault, fault === undefined ? body.take() : undefined);
  };
  const take = (piece: Buffer) => {
    if (body.length + piece.length > bodyLimit) finish(tooLarge());
    else body.add(piece);
  };
  const end = () => finish(announced === undefined || announced === body.length ? undefined : incomplete());
  const fail = () => finish(incomplete());
  raw.on('data', take).on('end', end).on('error', fail);
}

function incomplete(): UserError {
  return new UserError(bodyIncomplete);
}
