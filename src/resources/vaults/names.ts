import { UserError, quote } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { FieldError } from '../../api/operation.ts';
import { text } from '../../api/body/text-fields.ts';

const limitBytes = 255;
const form = /^[A-Za-z0-9_/.-]+$/;

interface NameErrors {
  readonly empty: ErrorDefinition<never>;
  readonly tooLong: ErrorDefinition<'bytes'>;
  readonly invalid: ErrorDefinition<'name'>;
}

/** Name of a vault or a secret, as policies write it. */
export function nameField(of: string, example: string) {
  return text(
    limitBytes,
    `Name of the ${of}, by which policies find it: letters, digits, "-", "_", "." and "/".`,
    example,
  );
}

/** Answers a name that is missing or too long with the error that this resource has for it. */
export function nameFieldError({ empty, tooLong }: NameErrors): FieldError {
  return (value, missing) => {
    if (missing) return new UserError(empty);
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
    return bytes > limitBytes ? new UserError(tooLong, { bytes }) : undefined;
  };
}

export function checkName(name: string, { empty, invalid }: NameErrors): string {
  if (name === '') throw new UserError(empty);
  if (!form.test(name)) throw new UserError(invalid, { name: quote(name) });
  return name;
}
