import { ApiError } from '../../../client/src/index.ts';
import type { CallError } from './client.ts';

/**
 * The field that a refusal is about: by its number where the form says so, else the one that its message names, such as
 * `The value of "expires_at" is not acceptable`.
 */
export function fieldOfError<Values extends object>(
  error: CallError,
  values: Values,
  byNumber: Readonly<Record<number, string>>,
): keyof Values | undefined {
  if (!(error instanceof ApiError) || error.status >= 500) return undefined;
  // The names of the fields of a form are those of the API.
  const names = Object.keys(values) as (string & keyof Values)[];
  const known = error.number === undefined ? undefined : byNumber[error.number];
  if (known !== undefined) return names.find((name) => name === known);
  const found = names.find((name) => new RegExp(`(^|[^\\w])${name}([^\\w]|$)`).test(error.message));
  return error.status === 400 ? found : undefined;
}
