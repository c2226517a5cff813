import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { ModuleTarget } from '../../modules/module.ts';
import type { Table } from '../../store/table.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { dependenciesOfModules } from '../policy-dependencies.ts';
import type { Referables } from '../references.ts';
import type { Edge, EdgeWrites } from './edge-writes.ts';
import { hostportsInput, sameHostports } from './hostports.ts';
import {
  acceptModuleEntries,
  describeModules,
  moduleEntryFields,
  namesInModules,
  storedModules,
} from './module-entries.ts';

/** One kind of edge that has no parts of its own. */
interface EdgeEntries {
  readonly kind: 'tcp_edges' | 'tls_edges';
  readonly noun: string;
  readonly target: ModuleTarget;
  readonly table: Table<Edge>;
  readonly schema: ReturnType<typeof edgeEntrySchema>;
  readonly errors: readonly ErrorDefinition[];
  readonly writes: EdgeWrites;
  readonly referables: Referables;
  /** The hostport as it is stored. */
  readonly spell: (hostport: string) => string;
  /** The port or name that a hostport takes. */
  readonly claimOf: (hostport: string) => string;
}

interface EdgeFields extends TextFields {
  readonly hostports?: readonly string[];
}

export function edgeEntrySchema(
  id: string,
  kind: EdgeEntries['kind'],
  target: ModuleTarget,
  hostports: ReturnType<typeof hostportsInput>,
) {
  return entrySchema(id, kind, { ...textFields, hostports, ...moduleEntryFields(target) });
}

export function edgeKind(parts: EdgeEntries): ConfigurationKind {
  const { kind, noun, target, table, schema, errors, writes, referables, claimOf } = parts;
  return defineKind({
    kind,
    noun,
    scope: target,
    table,
    changeKinds: [table.kind],
    schema,
    errors,
    isDeletedFirst: true,
    suggestName: ({ description, hostports }) => description ?? hostports[0] ?? '',
    describe: async (_queries, edges, nameOf) =>
      edges.map((edge) => ({ ...toFields(edge), ...describeModules(target, edge.modules, nameOf) })),
    accept: async (fields) => {
      const { hostports = [], ...texts } = read(fields);
      return {
        ...toFields({ ...texts, hostports: hostports.map(parts.spell) }),
        ...(await acceptModuleEntries(target, fields)),
      };
    },
    async create({ transaction, call, idOf }, fields) {
      const { hostports, ...texts } = read(fields);
      const modules = await storedModules(target, fields, idOf, referables);
      return writes.create(transaction, call.caller.accountId, { ...textsToSet(texts), hostports, modules });
    },
    async update({ transaction, idOf }, edge, fields) {
      const { hostports = [], ...texts } = read(fields);
      await writes.update(transaction, edge, {
        ...textsToSet(texts),
        hostports: sameHostports(hostports, edge.hostports) ? undefined : hostports,
        modules: await storedModules(target, fields, idOf, referables),
      });
    },
    remove: ({ transaction }, edge) => writes.remove(transaction, edge),
    names: (fields) => namesInModules(target, fields),
    dependsOn: (fields) => dependenciesOfModules(target, fields),
    claims: (fields) => (read(fields).hostports ?? []).map(claimOf),
    release({ transaction }, edge, fields) {
      const kept = new Set((read(fields).hostports ?? []).map(claimOf));
      return writes.keepOnly(
        transaction,
        edge,
        edge.hostports.filter((hostport) => kept.has(claimOf(hostport))),
      );
    },
  });
}

function toFields(fields: EdgeFields): EntryFields {
  const { hostports = [] } = fields;
  return { ...textsOf(fields), ...(hostports.length === 0 ? {} : { hostports }) };
}

function read(fields: EntryFields): EdgeFields {
  return fields;
}
