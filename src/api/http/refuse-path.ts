import type { FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { admitCaller } from '../admission/admit-caller.ts';
import type { AdmissionOptions, InTurn } from '../admission/admit-caller.ts';
import type { RateLimit } from '../admission/rate-limit.ts';
import { isFromDashboard } from '../dashboard/own-page.ts';
import { pathNotFound, tooManyFailures } from '../errors.ts';
import type { KnownPaths } from './not-found.ts';

interface RefusalContext {
  readonly options: AdmissionOptions;
  readonly rates: RateLimit | undefined;
}

/**
 * Refuses a path or method that does not exist. Only a caller who is signed in is told which path was probably meant: the
 * search for it costs more than all else that anybody may ask for. A credential that lets nobody in counts as a guess
 * here too.
 */
export async function refusePath(
  request: FastifyRequest,
  paths: KnownPaths,
  { options, rates }: RefusalContext,
  inTurn: InTurn,
): Promise<never> {
  const refusal = paths.refusal(request);
  const hasCredential = request.headers.authorization !== undefined || isFromDashboard(request.raw);
  if (refusal.code !== pathNotFound.code || !hasCredential) throw refusal;
  try {
    const { caller } = await admitCaller(request.raw, options, inTurn);
    rates?.take(caller.accountId);
  } catch (fault) {
    const isTooMuch = fault instanceof UserError && fault.status === tooManyFailures.status;
    throw isTooMuch ? fault : refusal;
  }
  throw paths.suggestion(request);
}
