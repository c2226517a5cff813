import { quote, UserError } from '../../errors/user-error.ts';
import { bodyUnreadable, fieldRequired, invalidValue, unknownField } from '../errors.ts';

/** The one field of a body that holds a secret. It is read by hand: a message must never repeat what may be the secret. */
export function secretIn(body: unknown, field: string): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UserError(bodyUnreadable, { reason: `it is not an object with a ${field}` });
  const given = new Map<string, unknown>(Object.entries(body));
  const other = [...given.keys()].find((name) => name !== field);
  if (other !== undefined)
    throw new UserError(unknownField, { field: quote(other), remedy: `The known ones are: ${field}.` });
  const value = given.get(field);
  if (value === undefined) throw new UserError(fieldRequired, { field });
  if (typeof value !== 'string') throw new UserError(invalidValue, { field, reason: 'is not text' });
  return value;
}
