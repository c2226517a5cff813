import { textFields } from '../../api/body/text-fields.ts';
import * as headerErrors from '../../modules/header-errors.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { backendInUse } from '../static-backends/errors.ts';
import { answerInputs } from './schema.ts';
import { httpResponseBackends } from './table.ts';
import { acceptAnswerHeaders, httpResponseWrites as writes } from './writes.ts';
import type { HttpResponseChange } from './writes.ts';

export const HttpResponseBackendEntry = entrySchema('HttpResponseBackendEntry', 'http_response_backends', {
  ...textFields,
  ...answerInputs,
});

export function httpResponseKind(): ConfigurationKind {
  return defineKind({
    kind: 'http_response_backends',
    noun: 'HTTP response backend',
    scope: 'backend',
    table: httpResponseBackends,
    changeKinds: [httpResponseBackends.kind],
    schema: HttpResponseBackendEntry,
    errors: [backendInUse, ...Object.values(headerErrors)],
    suggestName: ({ description, status_code }) => description ?? `answer-${status_code}`,
    describe: async (_queries, backends) => backends.map(toFields),
    accept: async (fields) => toFields({ ...read(fields), headers: acceptAnswerHeaders(read(fields).headers ?? {}) }),
    create: ({ transaction, call }, fields) => writes.create(transaction, { ...call, body: read(fields) }),
    async update({ transaction }, backend, fields) {
      const { status_code = 200, body = '', headers, ...texts } = read(fields);
      await writes.replace(transaction, { ...textsToSet(texts), status_code, body }, backend, headers);
    },
    remove: ({ transaction, call }, backend) => writes.remove(transaction, call, backend),
  });
}

function toFields({ status_code = 200, headers = {}, body = '', ...texts }: HttpResponseChange): EntryFields {
  return {
    ...textsOf(texts),
    ...(status_code === 200 ? {} : { status_code }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body === '' ? {} : { body }),
  };
}

function read(fields: EntryFields): HttpResponseChange {
  // The entry has passed its schema.
  return fields;
}
