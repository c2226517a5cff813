import type { AgentSession } from '../../agents/server/agent-session.ts';

/** A session of this process, and when it is stored. */
export interface HeldSession {
  readonly session: AgentSession;
  readonly stored: Promise<void>;
}

/** The sessions that this process holds, and their tunnels. */
export class HeldSessions {
  readonly #byId = new Map<string, HeldSession>();
  readonly #byAccount = new Map<string, Set<HeldSession>>();
  readonly #byTunnel = new Map<string, AgentSession>();
  readonly #binding = new Set<Promise<unknown>>();

  get size(): number {
    return this.#byId.size;
  }

  get tunnels(): number {
    return this.#byTunnel.size;
  }

  /** Sessions of the credential that has most. */
  get mostOfOneCredential(): number {
    const counts = new Map<string, number>();
    let most = 0;
    for (const { session } of this.#byId.values()) {
      const { credentialId } = session.facts.admission;
      const count = (counts.get(credentialId) ?? 0) + 1;
      counts.set(credentialId, count);
      most = Math.max(most, count);
    }
    return most;
  }

  get(sessionId: string): HeldSession | undefined {
    return this.#byId.get(sessionId);
  }

  ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  all(): readonly HeldSession[] {
    return [...this.#byId.values()];
  }

  ofAccount(accountId: string): readonly HeldSession[] {
    return [...(this.#byAccount.get(accountId) ?? [])];
  }

  sessionOf(tunnelId: string): AgentSession | undefined {
    return this.#byTunnel.get(tunnelId);
  }

  add(held: HeldSession): void {
    const { id, facts } = held.session;
    const { accountId } = facts.admission;
    const own = this.#byAccount.get(accountId) ?? new Set();
    this.#byId.set(id, held);
    this.#byAccount.set(accountId, own.add(held));
  }

  /** Forgets its tunnels too, except those that another session has by now. */
  remove(session: AgentSession): HeldSession | undefined {
    const held = this.#byId.get(session.id);
    this.#byId.delete(session.id);
    const { accountId } = session.facts.admission;
    const own = this.#byAccount.get(accountId);
    if (held !== undefined && own?.delete(held) === true && own.size === 0) this.#byAccount.delete(accountId);
    for (const id of session.tunnels.keys()) this.removeTunnel(session, id);
    return held;
  }

  /** Counts a tunnel that is being bound. */
  async bind<T>(work: () => Promise<T>): Promise<T> {
    const binding = work();
    this.#binding.add(binding);
    try {
      return await binding;
    } finally {
      this.#binding.delete(binding);
    }
  }

  /** Resolves when the agents of all tunnels that are being bound now have their answer, or at once if there are none. */
  async bound(): Promise<void> {
    if (this.#binding.size === 0) return;
    await Promise.allSettled(this.#binding);
    // The answer is written in the turn in which the tunnel is bound.
    await new Promise(setImmediate);
  }

  addTunnel(session: AgentSession, tunnelId: string): void {
    this.#byTunnel.set(tunnelId, session);
  }

  removeTunnel(session: AgentSession, tunnelId: string): void {
    if (this.#byTunnel.get(tunnelId) === session) this.#byTunnel.delete(tunnelId);
  }
}
