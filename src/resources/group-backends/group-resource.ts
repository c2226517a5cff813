import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { commonFields } from '../../api/filter/fields.ts';
import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { BackendGroupEntry } from '../../snapshot/contract.ts';
import { configurationKinds } from '../configuration-kind.ts';
import type { Resource } from '../resource.ts';
import {
  backendDescriptionTooLong,
  backendInUse,
  backendMetadataTooLong,
  backendNotFound,
} from '../static-backends/errors.ts';
import { groupEntry, groupKind } from './configuration.ts';
import * as errors from './errors.ts';
import type { GroupKind } from './kinds.ts';
import { groupReferable, groupWrites } from './writes.ts';

const writeErrors = [backendDescriptionTooLong, backendMetadataTooLong, duplicateEntry, ...Object.values(errors)];

/** The resource of one kind of backends that stand for others. */
export function groupResource<Members>(kind: GroupKind<Members>): Resource {
  const { table, path, name, noun, choice, idsOf, weightOf } = kind;
  const title = name.slice(0, -1);
  const backends = Type.Unsafe<Members>(kind.schema(`Ids of ${kind.description}`));
  const View = Type.Object({ ...viewFields(noun), backends }, { $id: title });
  const Create = Type.Object({ ...textFields, backends }, { $id: `${title}Create`, additionalProperties: false });
  const Update = Type.Object(
    { ...textFields, backends: Type.Optional(backends) },
    {
      $id: `${title}Update`,
      description:
        '`backends` replaces all of them, and what is chosen from then on; connections that are open stay. Empty keeps them.',
      additionalProperties: false,
    },
  );
  const Entry = groupEntry(kind, `${title}Entry`);
  const referable = groupReferable(kind);
  const compiler: Compiler = {
    kind: 'backend_group',
    affectedIds: (change) => (change.kind === table.kind ? [change.id] : []),
    async load(queries, ids) {
      const groups = await table.loadMany(queries, ids);
      return groups.map((group): BackendGroupEntry => {
        const members = idsOf(group.backends).map((id) => ({ id, weight: weightOf(group.backends, id) }));
        return { kind: 'backend_group', id: group.id, choice, members };
      });
    },
  };
  return {
    errors: Object.values(errors),
    migrations: [],
    schemas: [View, Create, Update, Entry],
    operations(context) {
      const writes = groupWrites(kind, referable, context);
      return crudOperations({
        rights: { read: 'everyone', write: 'everyone' },
        store: context.store,
        table,
        path,
        noun,
        plural: `${noun}s`,
        notFoundError: backendNotFound,
        name,
        tag: `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)}s`,
        listKey: 'backends',
        filterFields: commonFields,
        takesNewId: true,
        view: View,
        createBody: Create,
        updateBody: Update,
        fieldErrors: {
          ...textFieldErrors(backendDescriptionTooLong, backendMetadataTooLong),
          backends: (_value, missing) => (missing ? new UserError(errors.membersRequired) : undefined),
        },
        errors: { create: writeErrors, update: writeErrors, delete: [backendInUse] },
        create: (transaction, call) => writes.create(transaction, call),
        update: (transaction, call, previous) => writes.update(transaction, call, previous),
        remove: (transaction, _call, group) => writes.remove(transaction, group),
        present: ({ id, created_at, description, metadata, backends: members }, { uri }) => ({
          id,
          uri: uri(`${path}/${id}`),
          created_at,
          description,
          metadata,
          backends: members,
        }),
      });
    },
    compilers: () => [compiler],
    referables: [referable],
    provide(context) {
      const writes = groupWrites(kind, referable, context);
      context.services.add(configurationKinds, groupKind(kind, Entry, writes, [backendInUse, ...writeErrors]));
    },
  };
}
