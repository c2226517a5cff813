import { Type } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import type { Call } from './call.ts';
import { invalidValue } from './errors.ts';
import type { QueryParameter } from './operation.ts';

/** A query parameter that is `true` or `false`, and `false` if it is absent. Its operation answers `invalidValue`. */
export function flagParameter(name: string, description: string): QueryParameter {
  return { name, description, schema: Type.String({ enum: ['true', 'false'], default: 'false' }) };
}

export function readFlag({ filters }: Call, name: string): boolean {
  const { [name]: text = 'false' } = filters;
  if (text !== 'true' && text !== 'false')
    throw new UserError(invalidValue, { field: quote(name), reason: `is ${quote(text)}, where true or false belongs` });
  return text === 'true';
}

export const dryRunParameter = flagParameter(
  'dry_run',
  'true: nothing is changed, and the answer or the error is the same as without it.',
);
