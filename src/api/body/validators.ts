import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';

import { maxBytesKeyword, wellFormedKeyword } from './validation.ts';
import type { Validate } from './validation.ts';

/** Answers the validator of a schema. */
export type Validators = (schema: TSchema) => Validate;

/**
 * Compiles each schema at its first use: to compile all of them would make the start longer. `named` are those that
 * others refer to by their `$id`.
 */
export function createValidators(named: readonly TSchema[]): Validators {
  let ajv: Ajv | undefined;
  return (schema) => {
    ajv ??= createAjv(named);
    // In verbose mode its errors have this form.
    return ajv.compile(schema) as Validate;
  };
}

function createAjv(named: readonly TSchema[]): Ajv {
  const ajv = new Ajv({
    verbose: true,
    // A fault of an entry that has one of several forms is then that of its own form.
    discriminator: true,
    addUsedSchema: false,
    // The tests of the OpenAPI document check the schemas, and the schema of schemas takes longer than all of them.
    meta: false,
    validateSchema: false,
    // Most bodies are few: to compile twice as fast is worth more than validators of fewer lines.
    code: { optimize: false },
    keywords: [{ ...maxBytesKeyword }, { ...wellFormedKeyword }],
  });
  for (const schema of named) ajv.addSchema(schema);
  return ajv;
}
