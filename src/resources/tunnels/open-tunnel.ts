import type { AgentSession } from '../../agents/server/agent-session.ts';
import type { BindRequest, LabelsRequest } from '../../agents/wire/bind.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';
import type { AgentCredentials } from '../credentials/service.ts';
import { countPolicies } from '../policy-memory.ts';
import type { ResourceSettings } from '../resource.ts';
import { claimIdOf } from './choice.ts';
import type { Claimant } from './choice.ts';
import { urlOfName } from './choose-name.ts';
import * as errors from './errors.ts';
import type { HeldSessions } from './held-sessions.ts';
import { EndpointOnline } from './liveness.ts';
import type { Liveness } from './liveness.ts';
import type { AgentPolicy } from './policy.ts';
import type { TunnelRows } from './rows.ts';
import { tunnels, tunnelSessions } from './table.ts';
import type { Tunnel, TunnelClaim } from './table.ts';

interface OpenParts {
  readonly store: Store;
  readonly credentials: AgentCredentials;
  readonly rows: TunnelRows;
  readonly held: HeldSessions;
  readonly liveness: Liveness;
  /** Id of the process that holds the session. */
  readonly processId: string;
  readonly settings: ResourceSettings;
}

interface OpenedTunnel {
  readonly id: string;
  readonly url: string;
  readonly claim: TunnelClaim;
}

/** Takes the claim of a tunnel. Throws if the agent may not have it. */
type TakeClaim = (writer: ObservationWriter, claimant: Claimant) => Promise<TunnelClaim>;

/** Stores a tunnel of the session with its claim, both or neither. */
export async function openTunnel(
  session: AgentSession,
  request: BindRequest | LabelsRequest,
  take: TakeClaim,
  parts: OpenParts,
  policy?: AgentPolicy,
): Promise<OpenedTunnel> {
  const { credentials, held, liveness } = parts;
  const { accountId, credentialId } = session.facts.admission;
  const credential = await credentials.find(accountId, credentialId);
  const stored = held.get(session.id)?.stored;
  if (credential === undefined || stored === undefined) throw new UserError(errors.sessionLost);
  await stored;
  const claimant: Claimant = { clientId: session.facts.clientId, sessionId: session.id, credential };
  const attempt = () => storeTunnel(session, request, (writer) => take(writer, claimant), parts, policy);
  const opened = await attempt().catch(async (error: unknown) => {
    if (error instanceof EndpointOnline && (await liveness.removeDead(error.members))) return attempt();
    throw error;
  });
  held.addTunnel(session, opened.id);
  return opened;
}

function storeTunnel(
  session: AgentSession,
  request: BindRequest | LabelsRequest,
  take: (writer: ObservationWriter) => Promise<TunnelClaim>,
  { store, rows, processId, settings }: OpenParts,
  policy: AgentPolicy | undefined,
): Promise<OpenedTunnel> {
  return store.writeUnlogged(async (writer) => {
    if ((await tunnelSessions.load(writer, session.id)) === undefined) throw new UserError(errors.sessionLost);
    const id = request.kind === 'endpoint' ? request.id : '';
    const former = id === '' ? undefined : await tunnels.load(writer, id);
    if (former !== undefined) await rows.removeTunnel(writer, former, 'held');
    const claim = await take(writer);
    const tunnel = {
      ...(await newTunnel(writer, session, request, claim, processId)),
      url: urlOf(request, claim, settings),
      ...(policy === undefined ? {} : { traffic_policy: policy.text }),
    };
    await rows.addTunnel(writer, claim, tunnel);
    if (policy !== undefined) await countPolicies(writer, 'tunnels', tunnel, policy.kib);
    return { id: tunnel.id, url: tunnel.url, claim };
  }, session.facts.admission.accountId);
}

/** Tunnels of one name may have URLs of different schemes. */
function urlOf(
  request: BindRequest | LabelsRequest,
  { url, hostname }: TunnelClaim,
  settings: ResourceSettings,
): string {
  return request.kind === 'endpoint' && hostname !== null ? urlOfName(request.proto, hostname, settings) : url;
}

async function newTunnel(
  writer: ObservationWriter,
  session: AgentSession,
  request: BindRequest | LabelsRequest,
  claim: TunnelClaim,
  processId: string,
): Promise<Omit<Tunnel, 'url'>> {
  const { accountId } = session.facts.admission;
  const fresh = tunnels.newDocument(accountId);
  const twin = claim.id.replace(/^ep_/, 'tn_');
  const free = (await tunnels.load(writer, twin)) === undefined ? twin : fresh.id;
  const isEndpoint = request.kind === 'endpoint';
  return {
    ...fresh,
    id: isEndpoint && request.id !== '' && claimIdOf(request.id) !== '' ? request.id : free,
    session_id: session.id,
    claim_id: claim.id,
    process_id: processId,
    client_id: session.facts.clientId,
    proto: isEndpoint ? request.proto : '',
    labels: claim.labels,
    forwards_to: request.upstream.url,
    forwards_proto: request.upstream.protocol,
    metadata: request.metadata,
    name: isEndpoint ? request.name : '',
    description: isEndpoint ? request.description : '',
    pooling_enabled: isEndpoint && request.poolingEnabled,
  };
}
