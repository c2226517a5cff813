import { Type } from 'typebox';

import { anyKey } from '../../lib/any-key.ts';

const bodyBytes = 65_536;

export const answerFields = {
  status_code: Type.Integer({
    description: 'Status of the answer, from 200 to 599.',
    minimum: 200,
    maximum: 599,
    examples: [503],
  }),
  headers: Type.Record(anyKey, Type.String(), {
    description: 'Headers of the answer.',
    examples: [{ 'content-type': 'text/html' }],
  }),
  body: Type.String({
    description:
      'Body of the answer, in UTF-8. Max 65536 bytes. Without a content-type among the headers it is plain text.',
    maxBytes: bodyBytes,
    wellFormed: true,
    examples: ['Back at noon.'],
  }),
};

/** The fields of a write, where each may be left out. */
export const answerInputs = {
  status_code: Type.Optional(Type.Integer({ ...answerFields.status_code, default: 200 })),
  headers: Type.Optional(answerFields.headers),
  body: Type.Optional(answerFields.body),
};
