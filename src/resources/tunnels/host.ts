import type { SessionEnd } from '../../agents/mux/mux-session.ts';
import type { AgentSession } from '../../agents/server/agent-session.ts';
import type { AgentTunnel } from '../../agents/server/agent-tunnel.ts';
import type { Admission, AgentSource, BoundEndpoint } from '../../agents/server/host.ts';
import type { AuthRequest } from '../../agents/wire/auth.ts';
import type { BindRequest, LabelsRequest, PatchRequest } from '../../agents/wire/bind.ts';
import { optionsRefused } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { agentCredentials } from '../credentials/service.ts';
import { countPolicies } from '../policy-memory.ts';
import type { ResourceContext } from '../resource.ts';
import { pairChecks } from '../tls-certificates/service.ts';
import { admit } from './admission.ts';
import { BackgroundWork } from './background-work.ts';
import { Claims } from './claims.ts';
import type { CommandBox } from './commands.ts';
import * as errors from './errors.ts';
import { HeldSessions } from './held-sessions.ts';
import { isInternal, wantedUrl } from './internal-place.ts';
import { Liveness } from './liveness.ts';
import { openTunnel } from './open-tunnel.ts';
import { acceptOptions } from './options.ts';
import { checkPolicy, policyAsked } from './policy.ts';
import { TunnelRows } from './rows.ts';
import type { AgentHostOptions, OpenAgentHost } from './service.ts';
import { close, SessionWatch } from './session-watch.ts';
import { tunnels } from './table.ts';
import type { TunnelSession } from './table.ts';

type OpenParts = Parameters<typeof openTunnel>[3];

/** Interval at which what is stored is compared with what is open. */
const compareMs = 10_000;

/** Lets agents in, gives them names and ports, and closes the sessions of those who may stay no longer. */
export class TunnelHost implements OpenAgentHost {
  readonly #context: ResourceContext;
  readonly #options: AgentHostOptions;
  readonly #claims: Claims;
  readonly #watch: SessionWatch;
  readonly #opening: OpenParts;
  readonly #rows: TunnelRows;
  readonly #held = new HeldSessions();
  readonly #work: BackgroundWork;

  constructor(context: ResourceContext, options: AgentHostOptions, commands: CommandBox) {
    const { services, store } = context;
    const { processId } = options;
    const credentials = services.get(agentCredentials);
    this.#context = context;
    this.#options = options;
    this.#rows = new TunnelRows(services, options.nameMs);
    this.#claims = new Claims(context, this.#rows);
    this.#work = new BackgroundWork(options.log);
    const shared = { store, processId, held: this.#held, rows: this.#rows };
    const sessionOf = (id: string) => this.#held.get(id)?.session;
    const liveness = new Liveness({ store, rows: this.#rows, commands, sessionOf });
    this.#opening = { ...shared, credentials, liveness, settings: context.settings };
    this.#watch = new SessionWatch({
      ...shared,
      checks: { access: options.access, credentials },
      commands,
      work: this.#work,
      compareMs: options.compareMs ?? compareMs,
      stopped: (session, tunnel) => {
        this.unbind(session, tunnel);
      },
    });
  }

  sessionOf(tunnelId: string): AgentSession | undefined {
    return this.#held.sessionOf(tunnelId);
  }

  bound(): Promise<void> {
    return this.#held.bound();
  }

  get sessions(): number {
    return this.#held.size;
  }

  get tunnels(): number {
    return this.#held.tunnels;
  }

  get mostSessions(): number {
    return this.#held.mostOfOneCredential;
  }

  authenticate(request: AuthRequest, source: AgentSource): Promise<Admission> {
    return this.#counted(() => admit(request, source, this.#context, this.#options));
  }

  sessionUp(session: AgentSession): Promise<void> {
    const { id, facts } = session;
    const { admission, source } = facts;
    const { log, processId } = this.#options;
    const stored = this.#counted(() =>
      this.#context.store.writeUnlogged(
        (writer) => this.#rows.addSession(writer, toDocument(session, processId), this.#options),
        admission.accountId,
      ),
    );
    const held = { session, stored };
    this.#held.add(held);
    stored.catch((error: unknown) => {
      // The agent is answered with it.
      if (error instanceof UserError) return;
      log.error({ err: error, session: id }, 'a session of an agent could not be stored');
      close(session, 'the server could not store the session');
    });
    log.info({ session: id, credential: admission.credentialId, source: source.text }, 'agent connected');
    this.#work.run('check a session', () => this.#watch.check(held));
    return stored;
  }

  sessionDraining(session: AgentSession): void {
    const held = this.#held.get(session.id);
    this.#work.run('withdraw the tunnels', async () => {
      await held?.stored.catch(() => {});
      await this.#context.store.writeUnlogged(
        (writer) => this.#rows.removeTunnelsOf(writer, session.id),
        session.facts.admission.accountId,
      );
    });
  }

  sessionDown(session: AgentSession, { by, text }: SessionEnd): void {
    const held = this.#held.remove(session);
    this.#options.log.info({ session: session.id, by, reason: text }, 'agent disconnected');
    this.#work.run('remove a session', async () => {
      await held?.stored.catch(() => {});
      await this.#context.store.writeUnlogged(
        (writer) => this.#rows.removeSession(writer, session.id),
        session.facts.admission.accountId,
      );
    });
  }

  async bind(session: AgentSession, request: BindRequest): Promise<BoundEndpoint> {
    return this.#counted(async () => {
      const isForwardedTo = isInternal(request, wantedUrl(request));
      if (isForwardedTo) checkInternalOptions(request.options);
      else if (request.proto !== 'tcp' && !this.#options.servesHttps) throw new UserError(errors.httpsSwitchedOff);
      const options = acceptOptions(request.options, request.proto, this.#context.services.get(pairChecks));
      const { accountId } = session.facts.admission;
      const holder = { proto: request.proto, isInternal: isForwardedTo, accountId };
      const policy = await policyAsked(request.options, holder, this.#context);
      const { id, url, claim } = await this.#held.bind(() =>
        openTunnel(
          session,
          request,
          (writer, claimant) => this.#claims.takeEndpoint(writer, claimant, request, options),
          this.#opening,
          policy,
        ),
      );
      const { hostname, port } = claim;
      // An internal endpoint has the URL that was asked for.
      if (isForwardedTo) return { id, url };
      const opts = port === null ? { Domain: hostname } : { Addr: `${this.#context.settings.agentDomain}:${port}` };
      return { id, url, opts };
    });
  }

  async bindLabels(session: AgentSession, request: LabelsRequest): Promise<string> {
    return this.#counted(async () => {
      const { id } = await this.#held.bind(() =>
        openTunnel(
          session,
          request,
          (writer, claimant) => this.#claims.takeLabels(writer, claimant, request),
          this.#opening,
        ),
      );
      return id;
    });
  }

  unbind(session: AgentSession, { id }: AgentTunnel): void {
    this.#held.removeTunnel(session, id);
    this.#work.run('remove a tunnel', () =>
      this.#context.store.writeUnlogged(async (writer) => {
        const tunnel = await tunnels.load(writer, id);
        // A later session of the same agent may have it by now.
        if (tunnel?.session_id === session.id) await this.#rows.removeTunnel(writer, tunnel, 'given_up');
      }, session.facts.admission.accountId),
    );
  }

  async patch(session: AgentSession, { id, request }: AgentTunnel, patch: PatchRequest): Promise<void> {
    const { accountId } = session.facts.admission;
    const policy = patch.trafficPolicy;
    let kib = policy === undefined ? undefined : 0;
    if (policy !== undefined && policy !== '') {
      if (request.kind !== 'endpoint') throw new UserError(optionsRefused, { options: 'TrafficPolicy of labels' });
      const isForwardedTo = isInternal(request, wantedUrl(request));
      const holder = { proto: request.proto, isInternal: isForwardedTo, accountId };
      ({ kib } = await this.#counted(() => checkPolicy(policy, holder, this.#context)));
    }
    await this.#context.store.writeUnlogged(async (writer) => {
      const tunnel = await tunnels.load(writer, id);
      if (tunnel?.session_id !== session.id) throw new UserError(errors.sessionLost);
      const { name = tunnel.name, description = tunnel.description, metadata = tunnel.metadata } = patch;
      const pooling_enabled = patch.poolingEnabled ?? tunnel.pooling_enabled;
      const { traffic_policy: former, ...rest } = tunnel;
      const kept = policy ?? former ?? '';
      const texts = { name, description, metadata, ...(kept === '' ? {} : { traffic_policy: kept }) };
      if (tunnel.pooling_enabled && !pooling_enabled) await this.#claims.checkAlone(writer, tunnel);
      await this.#rows.replaceTunnel(writer, { ...rest, ...texts, pooling_enabled });
      if (kib !== undefined) await countPolicies(writer, 'tunnels', tunnel, kib);
    }, accountId);
  }

  turnedAway(source: AgentSource, reason: string): void {
    // Not louder: anybody can make as many of these as they like, and refusals are counted.
    this.#options.log.debug({ source: source.text, reason }, 'agent refused');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    await this.#work[Symbol.asyncDispose]();
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UserError) this.#options.refused(error.code);
      throw error;
    }
  }
}

/** Throws for an option that nothing would carry out. */
function checkInternalOptions({ mutualTlsCa, tlsTermination }: BindRequest['options']): void {
  const refused = [
    ...(mutualTlsCa === undefined ? [] : ['MutualTLSCA']),
    ...(tlsTermination === undefined ? [] : ['TLSTermination']),
  ];
  if (refused.length > 0) throw new UserError(errors.notForInternal, { options: refused.join(', ') });
}

function toDocument({ facts, id, startedMs }: AgentSession, processId: string): TunnelSession {
  const { agent, admission, clientId, source } = facts;
  return {
    id,
    account_id: admission.accountId,
    created_at: toTimestamp(startedMs),
    process_id: processId,
    client_id: clientId,
    credential_id: admission.credentialId,
    agent_version: agent.version,
    ip: source.text,
    metadata: agent.metadata,
    os: agent.os,
  };
}
