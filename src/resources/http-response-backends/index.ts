import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { commonFields } from '../../api/filter/fields.ts';
import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import * as headerErrors from '../../modules/header-errors.ts';
import { configurationKinds, textsToSet } from '../configuration-kind.ts';
import type { Resource } from '../resource.ts';
import {
  backendDescriptionTooLong,
  backendInUse,
  backendMetadataTooLong,
  backendNotFound,
} from '../static-backends/errors.ts';
import { fixedAnswerCompiler } from './compile.ts';
import { HttpResponseBackendEntry, httpResponseKind } from './configuration.ts';
import { answerFields, answerInputs } from './schema.ts';
import { httpResponseBackends, migrations } from './table.ts';
import { httpResponseWrites, path, referable } from './writes.ts';

const View = Type.Object({ ...viewFields('HTTP response backend'), ...answerFields }, { $id: 'HttpResponseBackend' });
const Create = Type.Object(
  { ...textFields, ...answerInputs },
  { $id: 'HttpResponseBackendCreate', additionalProperties: false },
);
const Update = Type.Object(
  {
    ...textFields,
    status_code: Type.Optional(answerFields.status_code),
    headers: answerInputs.headers,
    body: answerInputs.body,
  },
  {
    $id: 'HttpResponseBackendUpdate',
    description: '`headers` replaces all of them; {} keeps them, because official clients send it with every update.',
    additionalProperties: false,
  },
);

const writeErrors = [backendDescriptionTooLong, backendMetadataTooLong, ...Object.values(headerErrors)];

/** Backends that are an answer themselves. */
export const httpResponseBackendsResource: Resource = {
  migrations,
  schemas: [View, Create, Update, HttpResponseBackendEntry],
  operations: ({ store }) =>
    crudOperations({
      rights: { read: 'everyone', write: 'everyone' },
      store,
      table: httpResponseBackends,
      path,
      noun: 'HTTP response backend',
      plural: 'HTTP response backends',
      notFoundError: backendNotFound,
      name: 'HttpResponseBackends',
      tag: 'HTTP response backends',
      listKey: 'backends',
      filterFields: commonFields,
      takesNewId: true,
      view: View,
      createBody: Create,
      updateBody: Update,
      fieldErrors: textFieldErrors(backendDescriptionTooLong, backendMetadataTooLong),
      errors: { create: writeErrors, update: writeErrors, delete: [backendInUse] },
      create: (transaction, call) => httpResponseWrites.create(transaction, call),
      update: (transaction, call, previous) => httpResponseWrites.update(transaction, call, previous),
      remove: (transaction, call, backend) => httpResponseWrites.remove(transaction, call, backend),
      restore: (transaction, call, wanted, current) =>
        current === undefined
          ? httpResponseWrites.create(transaction, { ...call, body: wanted, newId: wanted.id })
          : httpResponseWrites.replace(transaction, { ...wanted, ...textsToSet(wanted) }, current, wanted.headers),
      present: ({ id, created_at, description, metadata, status_code, headers, body }, { uri }) => ({
        id,
        uri: uri(`${path}/${id}`),
        created_at,
        description,
        metadata,
        status_code,
        headers,
        body,
      }),
    }),
  compilers: () => [fixedAnswerCompiler],
  referables: [referable],
  provide({ services }) {
    services.add(configurationKinds, httpResponseKind());
  },
};
