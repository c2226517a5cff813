import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Queries } from '../../store/database.ts';
import type { HistoryChange } from '../../store/write/history.ts';
import type { ResourceContext } from '../resource.ts';
import { processes } from './service.ts';
import type { ListedProcess } from './service.ts';

const path = '/gateways';

const GatewayView = Type.Object({
  id: Type.String({ description: 'Unique identifier of the process, from its start to its end.' }),
  role: Type.Optional(Type.String({ description: 'all, api or gateway. Absent: an older version runs there.' })),
  host: Type.Optional(Type.String({ description: 'Name of the machine; only admins are told.' })),
  version: Type.Optional(Type.String({ description: 'Version of the program. Absent: an older one runs there.' })),
  started_at: Type.String({ format: 'date-time', description: 'When it started, RFC 3339.' }),
  seen_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Time of its last report, RFC 3339. Every process reports every ten seconds.',
    }),
  ),
  configuration_version: Type.Optional(
    Type.Integer({ description: 'The version of the configuration that the process obeyed at seen_at.' }),
  ),
  lag_ms: Type.Optional(
    Type.Integer({
      description:
        'Age, at seen_at, of the oldest change that the process did not obey yet, in milliseconds, to the second. Absent: it obeyed ' +
        'all changes that were stored by then.',
    }),
  ),
  listeners: Type.Optional(
    Type.Array(
      Type.Object({
        kind: Type.String({ description: 'api, https, http, tcp, agents or links.' }),
        address: Type.String({ description: 'The address of the listener.' }),
        port: Type.Integer({ description: '0 for tcp: the ports of all TCP edges.' }),
      }),
      { description: 'The listeners of the process; only admins are told.' },
    ),
  ),
  unopened_ports: Type.Array(
    Type.Object({
      port: Type.Integer({ description: 'A port of a TCP edge of this account.' }),
      edge_id: Type.String({ description: 'The edge, or the endpoint of an agent, that has it.' }),
      reason: Type.String({
        description: 'Why the port could not be opened. The process tries again every few seconds.',
      }),
    }),
    { description: 'Ports of TCP edges of this account that the process cannot open.' },
  ),
  history_change: Type.Optional(
    Type.Object(
      {
        at: Type.String({ format: 'date-time', description: 'When it was found, RFC 3339.' }),
        seen_version: Type.Integer({
          description: 'The newest version of the configuration that the process had seen.',
        }),
        version: Type.Integer({ description: 'The newest version that the database had.' }),
        lost: Type.Array(
          Type.Object({
            version: Type.Integer({ description: 'The version that the change had made.' }),
            kind: Type.String({ description: 'Kind of the resource that was changed.' }),
            id: Type.String({ description: 'Id of that resource.' }),
            action: Type.Optional(
              Type.Union([Type.Literal('created'), Type.Literal('changed'), Type.Literal('deleted')], {
                description: 'Kind of the lost change. A resource whose deletion was lost exists again.',
              }),
            ),
          }),
          {
            description:
              'Changes of this account that it had seen and that are gone, deletions first; there may be more. A process that has ' +
              'started from its snapshot file knows none by name.',
          },
        ),
      },
      {
        description:
          'When it last found the database with another history than before, after a failover or a restore. It then goes by what ' +
          'the database has. Absent: never since it started.',
      },
    ),
  ),
});

export const GatewaysView = Type.Object(
  {
    gateways: Type.Array(GatewayView, { description: 'The processes, those that started first at the top.' }),
    configuration_version: Type.Integer({ description: 'The newest version of the configuration.' }),
    acme: Type.Boolean({
      description: 'True if the installation has certificates issued by a public authority (GATEHOUSE_ACME=on).',
    }),
    uri: Type.String({ description: 'URI of this list.' }),
  },
  { $id: 'Gateways' },
);

/** Shows what carries the traffic: which processes run, whether they follow, and which ports are closed. */
export function gatewaysOperation({ store, services, settings }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'GatewaysList',
    summary: 'List the processes of the installation',
    description:
      'Every process that serves the API or traffic, the version of the configuration it obeys, and the ports of this ' +
      "account's TCP edges that it could not open.",
    tag: 'Gateways',
    status: 200,
    response: GatewaysView,
    errors: [],
    handle: async ({ caller, uri }) => {
      const all = await services.get(processes).list();
      const gateways = await Promise.all(
        all.map(async (each) => ({
          ...present(each, caller),
          ...(await readLag(store.queries, each.status)),
        })),
      );
      return { gateways, configuration_version: store.version, acme: settings.acme.isOn, uri: uri(path) };
    },
  });
}

function present(
  { id, role, hostname, version, startedAt, listeners, status }: ListedProcess,
  { accountId, principal }: Call['caller'],
) {
  // Machines and their addresses are a map of the network, which members and bots have no use for; metrics are for
  // whoever runs the machines.
  const shown = listeners.filter(({ kind }) => kind !== 'metrics');
  const machine = {
    host: hostname,
    listeners: shown.map(({ kind, host, port }) => ({ kind, address: host, port })),
  };
  return {
    id,
    role,
    ...(principal.role === 'admin' ? machine : {}),
    version,
    started_at: startedAt,
    seen_at: status && toTimestamp(status.seenAtMs),
    configuration_version: status?.configurationVersion,
    unopened_ports: (status?.unopenedPorts ?? [])
      .filter((each) => each.accountId === accountId)
      .map(({ port, edgeId, reason }) => ({ port, edge_id: edgeId, reason })),
    history_change: status?.historyChange && presentHistory(status.historyChange, accountId),
  };
}

function presentHistory({ atMs, seenVersion, version, lost }: HistoryChange, accountId: string) {
  return {
    at: toTimestamp(atMs),
    seen_version: seenVersion,
    version,
    lost: lost
      .filter((each) => each.accountId === accountId)
      .map(({ version: of, kind, id, action }) => ({ version: of, kind, id, action })),
  };
}

async function readLag(queries: Queries, status: ListedProcess['status']): Promise<{ readonly lag_ms?: number }> {
  if (status === undefined) return {};
  const sql = 'SELECT at FROM change_log WHERE version > $1 ORDER BY version, position LIMIT 1';
  const [row] = await queries.all(sql, [status.configurationVersion]);
  if (row === undefined) return {};
  const lagMs = Math.floor(status.seenAtMs / 1000) * 1000 - Date.parse(String(row[0]));
  return lagMs > 0 ? { lag_ms: lagMs } : {};
}
