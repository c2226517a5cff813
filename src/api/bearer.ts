import { UserError } from '../errors/user-error.ts';

/** The token of an Authorization header. What was sent is never repeated in an answer. */
export function bearerToken(header: string | undefined): string {
  if (header === undefined || header === '') throw refused(200);
  const [, scheme = '', token = ''] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  if (scheme.toLowerCase() !== 'bearer') throw refused(201);
  if (/^ak_[0-9A-Za-z]+$/.test(token)) throw refused(208);
  return token;
}

type Refusal = 200 | 201 | 202 | 203 | 208;

export function refused(code: Refusal): UserError {
  return new UserError(code, { 'WWW-Authenticate': 'Bearer' });
}
