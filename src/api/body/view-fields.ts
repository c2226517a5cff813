import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { textFields } from './text-fields.ts';

/** Fields with which the views of most resources begin. The last word of the noun stands for it: `policy` for `IP policy`. */
export function viewFields(noun: string) {
  return {
    id: Type.String({ description: `Unique identifier of the ${noun}.` }),
    uri: Type.String({ description: `URI of this ${noun.split(' ').at(-1)}'s resource.` }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
  };
}

/** A type or null, in the form that serializes fastest. */
export function nullable(type: 'string' | 'array', description: string, items?: TSchema) {
  return Type.Unsafe<string | null>({ type: [type, 'null'], description, ...(items === undefined ? {} : { items }) });
}
