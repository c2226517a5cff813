import { UserError } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';

const form = /^bearer +(\S+)$/i;

/** The token of an Authorization header. What was sent is never repeated in an answer. */
export function bearerToken(header: string | undefined): string {
  if (header === undefined || header === '') throw refused(200);
  const [, token] = form.exec(header) ?? [];
  if (token === undefined) throw refused(201);
  if (hasPrefix(token, 'ak')) throw refused(208);
  return token;
}

type Refusal = 200 | 201 | 202 | 203 | 208;

export function refused(code: Refusal): UserError {
  return new UserError(code, { 'WWW-Authenticate': 'Bearer' });
}
