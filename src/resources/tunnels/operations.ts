import type { AgentCommand } from '../../agents/wire/commands.ts';
import type { Call } from '../../api/call.ts';
import { notFound } from '../../api/errors.ts';
import { alwaysText, mapIn, textIn, timeIn } from '../../api/filter/fields.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { findNamed } from '../../api/readable.ts';
import { readOperations } from '../../api/read-operations.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Queries } from '../../store/database.ts';
import { agentCredentials } from '../credentials/service.ts';
import type { ResourceContext } from '../resource.ts';
import { tunnelGroups } from '../tunnel-group-backends/service.ts';
import { commandSeconds } from './commands.ts';
import { commandUnanswered, commandUnsupported, notSessionOwner } from './errors.ts';
import { TunnelSessionCommand, TunnelSessionView, TunnelView } from './schema.ts';
import { commandBox } from './service.ts';
import { tunnels, tunnelSessions } from './table.ts';
import type { Tunnel, TunnelSession } from './table.ts';

const sessionsPath = '/tunnel_sessions';
const tunnelsPath = '/tunnels';

const commands: Readonly<Record<AgentCommand, { readonly summary: string; readonly description: string }>> = {
  restart: {
    summary: 'Restart the agent of a session',
    description:
      'The agent stops and starts again, if the program that it is part of allows it; it then has another session.',
  },
  stop: {
    summary: 'Stop the agent of a session',
    description: 'The agent ends, if the program that it is part of allows it.',
  },
  update: {
    summary: 'Update the agent of a session',
    description: 'The agent updates itself to the newest version of the same major version, if it can.',
  },
};

export function sessionOperations(context: ResourceContext): readonly Operation[] {
  const { store, settings } = context;
  const { transport } = settings;
  const present = (session: TunnelSession, { uri }: Call) => ({
    id: session.id,
    uri: uri(`${sessionsPath}/${session.id}`),
    agent_version: session.agent_version,
    credential: { id: session.credential_id, uri: uri(`/credentials/${session.credential_id}`) },
    ip: session.ip,
    metadata: session.metadata,
    os: session.os,
    region: settings.region,
    started_at: session.created_at,
    transport,
  });
  const list = {
    store,
    table: tunnelSessions,
    path: sessionsPath,
    noun: 'tunnel session',
    plural: 'tunnel sessions',
    listKey: 'tunnel_sessions',
    name: 'TunnelSessions',
    tag: 'Tunnel sessions',
    rights: { read: 'everyone' },
    view: TunnelSessionView,
    filterFields: {
      id: textIn('id'),
      started_at: timeIn('created_at'),
      metadata: textIn('metadata'),
      agent_version: textIn('agent_version'),
      ip: textIn('ip'),
      os: textIn('os'),
      region: alwaysText(settings.region),
      transport: alwaysText(transport),
      credential: textIn('credential_id'),
      'credential.id': textIn('credential_id'),
    },
    present,
  } as const;
  return [
    ...readOperations(list),
    // Names of commands come from an object whose keys are commands.
    ...(Object.keys(commands) as AgentCommand[]).map((command) =>
      commandOperation(command, context, (call) => findNamed(store.queries, list, call)),
    ),
  ];
}

function commandOperation(
  command: AgentCommand,
  { services }: ResourceContext,
  find: (call: Call) => Promise<TunnelSession>,
): Operation {
  return operation({
    method: 'POST',
    path: `${sessionsPath}/{id}/${command}`,
    operationId: `TunnelSessions${command[0]?.toUpperCase()}${command.slice(1)}`,
    ...commands[command],
    tag: 'Tunnel sessions',
    rights: 'owner',
    body: TunnelSessionCommand,
    ignoresOtherBodies: true,
    status: 204,
    errors: [notFound, notSessionOwner, commandUnsupported, commandUnanswered],
    handle: async (call) => {
      const session = await find(call);
      const { principal, accountId } = call.caller;
      const owner = await services.get(agentCredentials).find(accountId, session.credential_id);
      if (principal.role !== 'admin' && owner?.ownerId !== principal.id)
        throw new UserError(notSessionOwner, { session: session.id });
      const answer = await services.get(commandBox).send(session.id, command);
      if (answer.outcome === 'unsupported')
        throw new UserError(commandUnsupported, { command, reason: answer.reason.replace(/\.$/, '') });
      if (answer.outcome === 'unanswered') throw new UserError(commandUnanswered, { command, seconds: commandSeconds });
    },
  });
}

export function tunnelOperations({ store, settings, services }: ResourceContext): readonly Operation[] {
  const present = async (queries: Queries, tunnel: Tunnel, { uri }: Call) => {
    const { id, url, proto, labels, session_id } = tunnel;
    const ref = (path: string, refId: string) => ({ id: refId, uri: uri(`${path}/${refId}`) });
    const groups = services.get(tunnelGroups);
    const shared = {
      id,
      started_at: tunnel.created_at,
      metadata: tunnel.metadata,
      region: settings.region,
      tunnel_session: ref(sessionsPath, session_id),
      forwards_to: tunnel.forwards_to,
    };
    if (labels === null)
      return { ...shared, public_url: url, proto, endpoint: ref('/endpoints', id.replace(/^tn_/, 'ep_')) };
    const matching = await groups.matching(queries, tunnel.account_id, labels);
    return { ...shared, labels, backends: matching.map((group) => ref(groups.path, group.id)) };
  };
  const list = {
    store,
    table: tunnels,
    path: tunnelsPath,
    noun: 'tunnel',
    plural: 'tunnels',
    listKey: 'tunnels',
    name: 'Tunnels',
    tag: 'Tunnels',
    rights: { read: 'everyone' },
    view: TunnelView,
    filterFields: {
      id: textIn('id'),
      started_at: timeIn('created_at'),
      metadata: textIn('metadata'),
      public_url: textIn('url'),
      proto: textIn('proto'),
      labels: mapIn('labels'),
      forwards_to: textIn('forwards_to'),
      region: alwaysText(settings.region),
      tunnel_session: textIn('session_id'),
      'tunnel_session.id': textIn('session_id'),
    },
    presentAll: (queries: Queries, all: readonly Tunnel[], call: Call) =>
      Promise.all(all.map((tunnel) => present(queries, tunnel, call))),
  } as const;
  return readOperations(list);
}
