import { quote, UserError } from '../../errors/user-error.ts';
import { bodyUnreadable, fieldRequired, invalidValue, unknownField } from '../errors.ts';

/** The one field of a body that holds a secret. */
export function secretIn(body: unknown, field: string): string {
  return secretsIn(body, [field])[0] ?? '';
}

/**
 * Fields of a body that hold secrets. They are read by hand: a message must never repeat what may be a secret.
 * Fields of `optional` come last, and are empty where they are missing.
 */
export function secretsIn(
  body: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): readonly string[] {
  const fields = [...required, ...optional];
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UserError(bodyUnreadable, { reason: `it is not an object with a ${fields.join(' and a ')}` });
  const given = new Map<string, unknown>(Object.entries(body));
  const other = [...given.keys()].find((name) => !fields.includes(name));
  if (other !== undefined)
    throw new UserError(unknownField, { field: quote(other), remedy: `The known ones are: ${fields.join(', ')}.` });
  return fields.map((field) =>
    optional.includes(field) && !given.has(field) ? '' : readSecret(given.get(field), field),
  );
}

function readSecret(value: unknown, field: string): string {
  if (value === undefined) throw new UserError(fieldRequired, { field });
  if (typeof value !== 'string') throw new UserError(invalidValue, { field, reason: 'is not text' });
  return value;
}
