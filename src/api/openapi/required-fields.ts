import type { TSchema } from 'typebox';

import type { Operation } from '../operation.ts';

/** The parts of a schema that fields can stand in. */
interface Parts {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Parts>>;
  readonly items?: Parts;
  readonly anyOf?: readonly Parts[];
  readonly oneOf?: readonly Parts[];
}

/** Whether a body can lack a field for whose absence the operation has no error of its own. */
export function canLackField({ body, fieldErrors = {} }: Operation, schemas: readonly TSchema[]): boolean {
  // Every schema is made by TypeBox, which leaves out the parts that it does not have.
  const byId = new Map(schemas.map((schema) => [(schema as { readonly $id?: string }).$id, schema as Parts]));
  const seen = new Set<Parts>();
  const requires = (parts: Parts | undefined): boolean => {
    if (parts === undefined || seen.has(parts)) return false;
    seen.add(parts);
    return (parts.required ?? []).length > 0 || inner(parts).some(requires);
  };
  const inner = ({ $ref, properties = {}, items, anyOf = [], oneOf = [] }: Parts) => [
    byId.get($ref),
    ...Object.values(properties),
    items,
    ...anyOf,
    ...oneOf,
  ];
  const top: Parts | undefined = body;
  const isGeneral = (name: string) => fieldErrors[name]?.(undefined, true) === undefined;
  return top !== undefined && ((top.required ?? []).some(isGeneral) || inner(top).some(requires));
}
