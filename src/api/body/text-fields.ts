import { Type } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { FieldError } from '../operation.ts';

const descriptionLimitBytes = 255;
const metadataLimitBytes = 4096;

/** Free text, returned byte for byte. */
export function text(maxBytes: number, description: string, example: string) {
  return Type.String({ description, maxBytes, wellFormed: true, examples: [example] });
}

const descriptionText = text(
  descriptionLimitBytes,
  'Human-readable description. Optional, max 255 bytes.',
  'made by the deploy pipeline',
);
const metadataText = text(
  metadataLimitBytes,
  'Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON.',
  '{"environment":"staging"}',
);

/** Free-text fields that every resource has. */
export const textFields = {
  description: Type.Optional(descriptionText),
  metadata: Type.Optional(metadataText),
};

export interface TextFields {
  readonly description?: string;
  readonly metadata?: string;
}

/** Applies the free-text fields of a request: absent keeps the old text, `""` unsets it. */
export function withText<Document extends object>(document: Document, input: TextFields): Document & TextFields {
  const { description: oldDescription, metadata: oldMetadata, ...rest }: Document & TextFields = document;
  const { description: newDescription = oldDescription, metadata: newMetadata = oldMetadata } = input;
  const texts: TextFields = {
    ...(newDescription === undefined || newDescription === '' ? {} : { description: newDescription }),
    ...(newMetadata === undefined || newMetadata === '' ? {} : { metadata: newMetadata }),
  };
  // Only the two texts differ from the document.
  return { ...rest, ...texts } as Document & TextFields;
}

/** Answers texts that are too long with the errors that this kind of resource has for them. */
export function textFieldErrors(
  description: ErrorDefinition<'bytes'>,
  metadata: ErrorDefinition<'bytes'>,
): Readonly<Record<string, FieldError>> {
  return {
    description: tooLong(description, descriptionLimitBytes),
    metadata: tooLong(metadata, metadataLimitBytes),
  };
}

function tooLong(definition: ErrorDefinition<'bytes'>, limit: number): FieldError {
  return (value) => {
    if (typeof value !== 'string' || Buffer.byteLength(value) <= limit) return undefined;
    return new UserError(definition, { bytes: Buffer.byteLength(value) });
  };
}
