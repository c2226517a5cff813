import { retryLater, UserError } from '../../errors/user-error.ts';
import { internalOffline, tooManyHops } from '../errors.ts';

/** Most internal endpoints that one visit goes through, one behind another. */
export const mostHops = 10;

export function offline(): UserError {
  return new UserError(internalOffline, retryLater);
}

export function tooFar(): UserError {
  return new UserError(tooManyHops, { limit: mostHops });
}
