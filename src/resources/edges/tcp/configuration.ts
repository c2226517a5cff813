import { textFields } from '../../../api/body/text-fields.ts';
import type { TextFields } from '../../../api/body/text-fields.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import { defineKind, textsOf, textsToSet } from '../../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../../configuration-kind.ts';
import { entrySchema } from '../../configuration-schema.ts';
import type { ResourceContext } from '../../resource.ts';
import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { hostportsInput, sameHostports } from '../hostports.ts';
import {
  acceptModuleEntries,
  describeModules,
  moduleEntryFields,
  namesInModules,
  storedModules,
} from '../module-entries.ts';
import { tcpEdges } from './table.ts';
import { target, tcpEdgeWrites } from './writes.ts';

export const TcpEdgeEntry = entrySchema('TcpEdgeEntry', 'tcp_edges', {
  ...textFields,
  hostports: hostportsInput('Where the edge is reached, as host:port.', 'tcp.example.com:10022'),
  ...moduleEntryFields(target),
});

interface EdgeFields extends TextFields {
  readonly hostports?: readonly string[];
}

export function tcpEdgeKind(context: ResourceContext, errors: readonly ErrorDefinition[]): ConfigurationKind {
  const writes = tcpEdgeWrites(context);
  const { referables } = context;
  return defineKind({
    kind: 'tcp_edges',
    noun: 'TCP edge',
    scope: 'tcp_edge',
    table: tcpEdges,
    changeKinds: ['tcp_edge'],
    schema: TcpEdgeEntry,
    errors,
    isDeletedFirst: true,
    suggestName: ({ description, hostports }) => description ?? hostports[0] ?? '',
    describe: async (_queries, edges, nameOf) =>
      edges.map((edge) => ({ ...toFields(edge), ...describeModules(target, edge.modules, nameOf) })),
    accept: async (fields) => ({ ...toFields(fields), ...acceptModuleEntries(target, fields) }),
    create: ({ transaction, call, idOf }, fields) => {
      const { hostports, ...texts } = read(fields);
      const modules = storedModules(target, fields, idOf, referables);
      return writes.create(transaction, call.caller.accountId, { ...textsToSet(texts), hostports, modules });
    },
    async update({ transaction, idOf }, edge, fields) {
      const { hostports = [], ...texts } = read(fields);
      await writes.update(transaction, edge, {
        ...textsToSet(texts),
        hostports: sameHostports(hostports, edge.hostports) ? undefined : hostports,
        modules: storedModules(target, fields, idOf, referables),
      });
    },
    remove: ({ transaction }, edge) => writes.remove(transaction, edge),
    names: (fields) => namesInModules(target, fields),
    claims: (fields) => (read(fields).hostports ?? []).map(portOf),
    release({ transaction }, edge, fields) {
      const kept = new Set((read(fields).hostports ?? []).map(portOf));
      return writes.keepOnly(
        transaction,
        edge,
        edge.hostports.filter((hostport) => kept.has(portOf(hostport))),
      );
    },
  });
}

function portOf(hostport: string): string {
  const parsed = parseHostPort(hostport);
  return parsed.ok ? String(parsed.port) : hostport;
}

function toFields(fields: EntryFields | EdgeFields): EntryFields {
  const { hostports = [], description, metadata } = read(fields);
  const texts = textsOf({ ...(description && { description }), ...(metadata && { metadata }) });
  return { ...texts, ...(hostports.length === 0 ? {} : { hostports }) };
}

function read(fields: EntryFields | EdgeFields): EdgeFields {
  return fields;
}
