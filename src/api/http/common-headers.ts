import type { FastifyReply, FastifyRequest } from 'fastify';

import type { UserError } from '../../errors/user-error.ts';
import { hostFault } from './host-header.ts';
import { repetitionFault } from './repeated-headers.ts';
import type { VendorWords } from './vendor-words.ts';

/** Sets the headers of every response, before anything else is done. Answers the fault of a head that can be misread. */
export function setCommonHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { operationHeaders }: VendorWords,
): UserError | undefined {
  for (const name of operationHeaders) void reply.header(name, request.id);
  // In lower case: the framework would convert it at each call.
  void reply.header('cache-control', 'no-store');
  return repetitionFault(request.raw) ?? hostFault(request.raw);
}
