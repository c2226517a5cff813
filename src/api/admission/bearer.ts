import { UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { authorizationMalformed, authorizationMissing, keyExpired, keyIdInsteadOfToken } from '../errors.ts';

const form = /^bearer +(\S+)$/i;

/** The token of an Authorization header. A credential is never repeated in a response. */
export function bearerToken(header: string | undefined): string {
  if (header === undefined || header === '') throw refused(authorizationMissing);
  const [, token] = form.exec(header) ?? [];
  if (token === undefined) throw refused(authorizationMalformed);
  return checkToken(token);
}

/** Throws for the id of a key in the place of its token. */
export function checkToken(token: string): string {
  if (hasPrefix(token, 'ak')) throw refused(keyIdInsteadOfToken);
  return token;
}

const challenge = { 'WWW-Authenticate': 'Bearer' };

/** The 401 for a credential that does not let anyone in. */
export function refused(definition: ErrorDefinition<never>): UserError<never> {
  return new UserError(definition, challenge);
}

/** The 401 for the credential of a key that has expired, which only its holder gets. */
export function refusedAsExpired(expiredAt: string): UserError {
  return new UserError(keyExpired, { expired: expiredAt }, challenge);
}
