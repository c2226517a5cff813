import { UserError } from '../../errors/user-error.ts';
import { optionsRefused } from '../../errors/shared.ts';
import { tooManyTunnels } from '../errors.ts';
import { bindResponse } from '../wire/bind-response.ts';
import { readBind, readLabels, readPatch, readUnbind } from '../wire/bind.ts';
import type { Asked, BindRequest } from '../wire/bind.ts';
import { streamTypes } from '../wire/stream-types.ts';
import type { AgentSession } from './agent-session.ts';
import { AgentTunnel } from './agent-tunnel.ts';
import type { AgentHost } from './host.ts';
import type { AgentIdentity } from './identity.ts';
import type { AgentLimits } from './limits.ts';

type Message = Readonly<Record<string, unknown>>;

interface Context {
  readonly host: AgentHost;
  readonly identity: AgentIdentity;
  readonly limits: AgentLimits;
}

type Answer = (message: Message, session: AgentSession, context: Context) => Promise<object>;

const answers: ReadonlyMap<number, { readonly name: string; readonly answer: Answer }> = new Map([
  [streamTypes.bind, { name: 'Bind', answer: bind }],
  [streamTypes.unbind, { name: 'Unbind', answer: unbind }],
  [streamTypes.startTunnelWithLabel, { name: 'StartTunnelWithLabel', answer: bindLabels }],
  [streamTypes.patchTunnelState, { name: 'PatchTunnelState', answer: patch }],
]);

/** Messages about tunnels, by type. */
export const tunnelMessages: readonly (readonly [number, string])[] = [...answers].map(([type, { name }]) => [
  type,
  name,
]);

/** Carries a message of an authenticated agent out. Throws a `MessageFault` or `UserError`. */
export async function answerTunnelMessage(
  type: number,
  message: Message,
  session: AgentSession,
  context: Context,
): Promise<object> {
  return (await answers.get(type)?.answer(message, session, context)) ?? {};
}

async function bind(message: Message, session: AgentSession, { host, identity, limits }: Context): Promise<object> {
  const asked = granted(readBind(message));
  const { clientId } = session.facts;
  // An id counts only with the proof that it was given to this agent.
  const id = identity.ownsTunnel(clientId, asked.id, asked.token) ? asked.id : '';
  const request: BindRequest = { ...asked, id };
  const endpoint = await session.reserveTunnel(limits.tunnelsPerSession, tooMany, () => host.bind(session, request));
  const tunnel = new AgentTunnel(endpoint.id, session, request, endpoint.url);
  keep(tunnel, session, host);
  return bindResponse({
    id: endpoint.id,
    url: endpoint.url,
    proto: request.proto,
    opts: { ...request.opts, ...endpoint.opts },
    token: identity.tunnelToken(clientId, endpoint.id),
  });
}

async function bindLabels(message: Message, session: AgentSession, { host, limits }: Context): Promise<object> {
  const request = granted(readLabels(message));
  const id = await session.reserveTunnel(limits.tunnelsPerSession, tooMany, () => host.bindLabels(session, request));
  keep(new AgentTunnel(id, session, request, ''), session, host);
  return { Id: id };
}

/** Agents send this several times for one tunnel, and for tunnels that are gone. */
async function unbind(message: Message, session: AgentSession, { host }: Context): Promise<object> {
  const tunnel = session.removeTunnel(readUnbind(message));
  if (tunnel !== undefined) host.unbind(session, tunnel);
  return {};
}

async function patch(message: Message, session: AgentSession, { host }: Context): Promise<object> {
  const request = granted(readPatch(message));
  const tunnel = session.tunnels.get(request.tunnelId);
  if (tunnel !== undefined) await host.patch(session, tunnel, request);
  return { Error: '' };
}

function granted<Request>(asked: Asked<Request>): Request {
  if (asked.ok) return asked.request;
  throw new UserError(optionsRefused, { options: asked.refused.join(', ') });
}

function tooMany(limit: number): UserError {
  return new UserError(tooManyTunnels, { limit });
}

function keep(tunnel: AgentTunnel, session: AgentSession, host: AgentHost): void {
  if (session.isOpen) session.addTunnel(tunnel);
  // The agent left while it was being bound, so its `sessionDown` knew nothing of it.
  else host.unbind(session, tunnel);
}
