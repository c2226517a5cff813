import type { SessionEnd } from '../../../src/agents/mux/mux-session.ts';
import type { AgentSession } from '../../../src/agents/server/agent-session.ts';
import type { AgentTunnel } from '../../../src/agents/server/agent-tunnel.ts';
import type { Admission, AgentHost, AgentSource, BoundEndpoint } from '../../../src/agents/server/host.ts';
import type { AuthRequest } from '../../../src/agents/wire/auth.ts';
import type { BindRequest, LabelsRequest, PatchRequest } from '../../../src/agents/wire/bind.ts';
import { defineError, UserError } from '../../../src/errors/user-error.ts';
import { newId } from '../../../src/lib/ids.ts';

const invalidToken = defineError(107, 401, 'The authtoken is not valid.');
const endpointOnline = defineError(334, 409, 'The endpoint {url} is online already.');
const sourceRefused = defineError(3206, 403, 'Agents may not connect from {address} here.');

/** Names and tokens in memory: one token for each of two accounts, names that belong to the agent that took them first. */
export class MemoryHost implements AgentHost {
  readonly up: AgentSession[] = [];
  readonly ended: { readonly session: AgentSession; readonly end: SessionEnd }[] = [];
  readonly away: string[] = [];
  readonly requests: (BindRequest | LabelsRequest)[] = [];
  readonly unbound: string[] = [];
  readonly patches: PatchRequest[] = [];
  /** Sources that may not connect. */
  readonly refusedSources = new Set<string>();
  /** Waited for before a bind is answered. */
  beforeBind: () => Promise<void> = () => Promise.resolve();
  readonly #owners = new Map<string, AgentSession>();
  readonly #labelled = new Map<string, string>();
  #names = 0;

  async authenticate(request: AuthRequest, source: AgentSource): Promise<Admission> {
    if (request.token === 'break') throw new Error('the database is away');
    const accountId = { 'token-a': 'ac_a', 'token-b': 'ac_b' }[request.token];
    if (accountId === undefined) throw new UserError(invalidToken);
    if (this.refusedSources.has(source.text)) throw new UserError(sourceRefused, { address: source.text });
    return { accountId, accountName: accountId, credentialId: `cr_${accountId}`, acl: [] };
  }

  sessionUp(session: AgentSession): void {
    this.up.push(session);
  }

  sessionDraining(): void {}

  sessionDown(session: AgentSession, end: SessionEnd): void {
    this.ended.push({ session, end });
    for (const tunnel of session.tunnels.values()) this.#release(session, tunnel);
  }

  async bind(session: AgentSession, request: BindRequest): Promise<BoundEndpoint> {
    this.requests.push(request);
    await this.beforeBind();
    const { wanted, proto } = request;
    const isTcp = proto === 'tcp';
    const host = (isTcp ? wanted.addr : wanted.domain) || `n${++this.#names}.test${isTcp ? ':10001' : ''}`;
    const url = `${proto}://${host}`;
    const owner = this.#owners.get(url);
    if (owner?.isOpen === true && owner.facts.clientId !== session.facts.clientId)
      throw new UserError(endpointOnline, { url });
    this.#owners.set(url, session);
    return { id: request.id || newId('tn'), url, opts: isTcp ? { Addr: host } : { Domain: host } };
  }

  async bindLabels(session: AgentSession, request: LabelsRequest): Promise<string> {
    this.requests.push(request);
    const key = JSON.stringify([session.facts.clientId, request.labels]);
    const id = this.#labelled.get(key) ?? newId('tn');
    this.#labelled.set(key, id);
    return id;
  }

  unbind(session: AgentSession, tunnel: AgentTunnel): void {
    this.unbound.push(tunnel.id);
    this.#release(session, tunnel);
  }

  async patch(_session: AgentSession, _tunnel: AgentTunnel, patch: PatchRequest): Promise<void> {
    this.patches.push(patch);
  }

  turnedAway(_source: AgentSource, reason: string): void {
    this.away.push(reason);
  }

  #release(session: AgentSession, { url }: AgentTunnel): void {
    if (this.#owners.get(url) === session) this.#owners.delete(url);
  }
}
