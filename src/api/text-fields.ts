import { Type } from 'typebox';

import { UserError } from '../errors/user-error.ts';
import type { Fault } from './operation.ts';

const descriptionLimitBytes = 255;
const metadataLimitBytes = 4096;

/** Text of the caller's, returned byte for byte. */
export function text(maxBytes: number, description: string, example: string) {
  return Type.String({ description, maxBytes, wellFormed: true, examples: [example] });
}

const description = text(
  descriptionLimitBytes,
  'Human-readable description. Optional, max 255 bytes.',
  'made by the deploy pipeline',
);
const metadata = text(
  metadataLimitBytes,
  'Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON.',
  '{"environment":"staging"}',
);

/** The two fields of the caller's own that every resource takes and shows. */
export const textFields = {
  description: Type.Optional(description),
  metadata: Type.Optional(metadata),
};

export interface TextFields {
  readonly description?: string;
  readonly metadata?: string;
}

/** What a resource keeps of them: absent keeps what was, `""` is unset. */
export function mergeText(previous: TextFields, input: TextFields): TextFields {
  const merged = { description: previous.description ?? '', metadata: previous.metadata ?? '', ...definedText(input) };
  return {
    ...(merged.description === '' ? {} : { description: merged.description }),
    ...(merged.metadata === '' ? {} : { metadata: merged.metadata }),
  };
}

type DescriptionCode = 604 | 1421 | 1916 | 6503 | 7073;
type MetadataCode = 605 | 1917 | 6504 | 7074;

/** The numbers that this kind of resource has for texts that are too long. */
export function textFaults(descriptionCode: DescriptionCode, metadataCode: MetadataCode): Readonly<Record<string, Fault>> {
  return {
    description: tooLong(descriptionCode, descriptionLimitBytes),
    metadata: tooLong(metadataCode, metadataLimitBytes),
  };
}

function tooLong(code: DescriptionCode | MetadataCode, limit: number): Fault {
  return (value) => {
    if (typeof value !== 'string' || Buffer.byteLength(value) <= limit) return undefined;
    return new UserError(code, { bytes: Buffer.byteLength(value) });
  };
}

function definedText({ description: given, metadata: data }: TextFields): TextFields {
  return { ...(given === undefined ? {} : { description: given }), ...(data === undefined ? {} : { metadata: data }) };
}
