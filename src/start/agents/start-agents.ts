import { hkdfSync } from 'node:crypto';

import { ready } from '../../lib/awaitable.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { AgentListener } from '../../agents/server/agent-listener.ts';
import type { AgentPort } from '../../agents/server/agent-port.ts';
import { agentBoundErrors } from '../../agents/server/bounds.ts';
import type { AgentBoundReports } from '../../agents/server/bounds.ts';
import { AgentIdentity } from '../../agents/server/identity.ts';
import { defaultLimits } from '../../agents/server/limits.ts';
import type { AgentLimits } from '../../agents/server/limits.ts';
import { vendorWords } from '../../api/http/vendor-words.ts';
import type { Config } from '../../config/config.ts';
import { servesAgents } from '../../config/roles.ts';
import { openLocalCa } from '../../gateway/certificates/local-ca.ts';
import type { LocalCa } from '../../gateway/certificates/local-ca.ts';
import type { ResilientGateway } from '../../gateway/resilient-gateway.ts';
import { BoundReports } from '../../lib/bound-reports.ts';
import type { LinkDirectory } from '../../links/link-directory.ts';
import type { OpenStream } from '../../links/stream-request.ts';
import type { AskProcess } from '../../resources/other-processes.ts';
import { localCa } from '../../resources/local-ca/service.ts';
import type { Registration } from '../../resources/processes/service.ts';
import type { ResourceContext } from '../../resources/resource.ts';
import { agentTunnels } from '../../resources/tunnels/service.ts';
import type { OpenAgentHost } from '../../resources/tunnels/service.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { Limits } from '../limits.ts';
import type { Observers } from '../observers.ts';
import { answerQuestions } from './answer-questions.ts';
import { AgentCertificates } from './certificates.ts';
import { sessionStreams } from './session-streams.ts';
import { startLinks } from './start-links.ts';

/** Disposing of it drains and closes the sessions. */
export interface RunningAgents extends AsyncDisposable {
  /** Port for agents; undefined where none connect to this process. */
  readonly port: number | undefined;
  /** Port for links of other processes. */
  readonly linkPort: number | undefined;
  /** Opens streams through any agent of the installation. */
  readonly openStream: OpenStream;
  /** Asks other processes. */
  readonly ask: AskProcess;
}

interface AgentParts
  extends
    Pick<Observers, 'observer' | 'metrics' | 'rates' | 'log' | 'decisions' | 'inspections'>,
    Pick<Limits, 'failures'> {
  readonly context: ResourceContext;
  readonly access: AccessTable;
  readonly registration: Pick<Registration, 'id'>;
  /** Undefined in a process that only holds sessions. */
  readonly gateway: ResilientGateway | undefined;
  readonly directory: LinkDirectory;
  /** Undefined where none connect to this process. */
  readonly agentPort: AgentPort | undefined;
}

const kibibyte = 1024;
const mebibyte = 1024 * 1024;
const keyBytes = 32;

/** Listens for agents, if the settings ask for it, and opens the way to those that are connected to other processes. */
export async function startAgents(config: Config, parts: AgentParts): Promise<RunningAgents> {
  const { context, gateway, metrics, log, directory, registration } = parts;
  // A fault on the way closes what is open.
  await using opened = new AsyncDisposableStack();
  const authority = await openLocalCa(context.services.get(localCa));
  const bounds = opened.use(new BoundReports(agentBoundErrors, (reports) => metrics.boundsReported(reports), log));
  const host = servesAgents(config) ? opened.use(openHost(config, parts, bounds)) : undefined;
  if (host !== undefined) metrics.watchAgents(host);
  const own = host && sessionStreams(host);
  // Before agents connect: their sessions are to be served by all from the start.
  const links = opened.use(
    await startLinks(config, {
      ...parts,
      processId: parts.registration.id,
      localCa: authority,
      own,
      answer: answerQuestions(parts),
    }),
  );
  const listener = host && (await openListener(config, parts, authority, host, bounds));
  if (listener !== undefined) log.info({ host: config.agentListen?.host, port: listener.port }, 'listening for agents');
  const owned = opened.move();
  return {
    port: listener?.port,
    linkPort: links.port,
    openStream: links.open,
    ask: links.ask,
    async [Symbol.asyncDispose]() {
      const limitMs = config.drainSeconds * 1000;
      // Agents that can go nowhere else stay until all visitors have left, so that they come back to the next process soon.
      const isLast = gateway !== undefined && !directory.hasOtherHolder(registration.id);
      if (isLast) await gateway.drain();
      links.stop();
      // Together: visitors of agents leave while the gateway lets its connections end.
      await Promise.all([listener?.drain(isLast ? 0 : limitMs), gateway?.drain()]);
      await owned.disposeAsync();
    },
  };
}

function openHost(
  config: Config,
  { context, access, registration, observer, failures, metrics, log }: AgentParts,
  bounds: AgentBoundReports,
): OpenAgentHost {
  const host = context.services.get(agentTunnels).openHost({
    processId: registration.id,
    access,
    answerGuess: (fault, source) => failures.answerGuess(fault, source),
    warned: (restrictionIds, source) => {
      observer.warned(restrictionIds, source);
    },
    refused: (code) => {
      metrics.agentRefused(code);
    },
    sessionsReached: (credential) => {
      bounds.refused('agent_max_sessions', { credential });
    },
    // A process that only holds sessions leaves HTTPS to the gateways.
    servesHttps: config.role === 'agents' || config.httpsListen !== undefined,
    sessionsPerCredential: config.agentMaxSessions,
    nameMs: config.agentNameSeconds * 1000,
    log,
  });
  bounds.watch('agent_max_sessions', config.agentMaxSessions, () => host.mostSessions);
  return host;
}

async function openListener(
  config: Config,
  { context, gateway, observer, log, agentPort }: AgentParts,
  authority: LocalCa,
  host: OpenAgentHost,
  bounds: AgentBoundReports,
): Promise<AgentListener> {
  if (agentPort === undefined) throw new Error('there is no address for agents');
  const pair = await context.services.get(localCa).load();
  if (pair === undefined) throw new Error('the local CA was made but is not stored');
  const certificates = await AgentCertificates.open(config, authority, log);
  const listener = new AgentListener({
    host,
    identity: new AgentIdentity(identityKey(pair.privateKeyPem)),
    limits: toLimits(config),
    bounds,
    region: config.region,
    serverVersion: packageJson.version,
    errorPrefix: vendorWords(config.vendor).errorPrefix,
    log,
    port: agentPort,
    clientRules: {
      isOurs: (socket, port) => gateway?.engine?.isOurs(socket, port) ?? ready(false),
      ownArrivalReset: () => {
        observer.ownArrivalReset();
      },
      proxyProtocol: config.proxyProtocol.includes('agents'),
      trustedProxies: config.trustedProxies,
      headersMs: config.agentAuthSeconds * 1000,
    },
    contextFor: (name, localAddress) => certificates.contextFor(name, localAddress),
  });
  listener.open();
  return listener;
}

/** Every process of the installation has the same one, also after a restart. */
function identityKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'identity of agents', keyBytes));
}

function toLimits(config: Config): AgentLimits {
  const { agentMaxStreams, agentRustStreams, agentMaxTunnels, agentUnreadMib } = config;
  const { agentAuthSeconds, agentAuthKib, agentPending } = config;
  return {
    ...defaultLimits,
    authMs: agentAuthSeconds * 1000,
    authBytes: agentAuthKib * kibibyte,
    pendingConnections: agentPending,
    tunnelsPerSession: agentMaxTunnels,
    streamsPerSession: { rust: Math.min(agentRustStreams, agentMaxStreams), other: agentMaxStreams },
    unreadBytes: agentUnreadMib * mebibyte,
  };
}
