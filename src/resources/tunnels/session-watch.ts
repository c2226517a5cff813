import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentSession } from '../../agents/server/agent-session.ts';
import type { AgentTunnel } from '../../agents/server/agent-tunnel.ts';
import type { CommandAnswer } from '../../agents/wire/commands.ts';
import { Pace, runUrgently } from '../../lib/pace.ts';
import { StoreUnavailableError } from '../../store/database.ts';
import type { Follower } from '../../store/write/change-feed.ts';
import type { Change } from '../../store/write/change-log.ts';
import type { Store } from '../../store/store.ts';
import { membersKind } from '../tunnel-group-backends/service.ts';
import type { BackgroundWork } from './background-work.ts';
import { commandKind, commandSeconds } from './commands.ts';
import type { BoxedCommand, CommandBox } from './commands.ts';
import type { HeldSession, HeldSessions } from './held-sessions.ts';
import { isAlive } from './liveness.ts';
import type { TunnelRows } from './rows.ts';
import { credentialKinds, findRefusal, tunnelsOutside } from './session-checks.ts';
import type { SessionChecks } from './session-checks.ts';
import { tunnelClaims, tunnels, tunnelSessions } from './table.ts';

interface WatchParts {
  readonly store: Store;
  readonly processId: string;
  readonly held: HeldSessions;
  readonly rows: TunnelRows;
  readonly checks: SessionChecks;
  readonly commands: CommandBox;
  readonly work: BackgroundWork;
  /** How often what is stored is compared with what is open. */
  readonly compareMs: number;
  /** A tunnel was stopped, because the agent may have it no longer. */
  readonly stopped: (session: AgentSession, tunnel: AgentTunnel) => void;
}

/** Interval of retries while the database cannot be reached. */
const retryMs = 100;
/** Kinds of changes that come of agents themselves, in great number, and lead to no refusal. */
const ownKinds: ReadonlySet<string> = new Set([tunnels.kind, tunnelClaims.kind, membersKind]);
/** The code of an end that is nobody's fault. */
const noFault = 0;

/** Closes sessions and tunnels that are allowed no longer, passes commands on to agents, and cures what was missed. */
export class SessionWatch implements Disposable {
  readonly #parts: WatchParts;
  readonly #timer: NodeJS.Timeout;
  /** Ids of commands that are being carried out: a change may be told twice. */
  readonly #underWay = new Set<string>();
  /** Checks that wait until rules of an account are in force that others do not wait for. */
  readonly #late = new Map<string, Promise<void>>();
  readonly #follower: Follower;
  #isStopped = false;

  constructor(parts: WatchParts) {
    const { store, held, work, compareMs } = parts;
    this.#parts = parts;
    this.#follower = {
      changed: (changes) => this.#changed(changes),
      reset: () => {
        work.run('find again what is bound', () => this.#closeLost(held.all()));
        return this.#checkAll(held.all(), true);
      },
      settled: (accountIds) => this.#settled(accountIds),
    };
    store.follow(this.#follower);
    this.#timer = setInterval(() => work.run('compare sessions', () => this.#reconcile()), compareMs).unref();
  }

  /** Checks a session that is new: a rule may have changed since it was admitted. */
  check(held: HeldSession): Promise<void> {
    return this.#checkAll([held], true);
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #changed(changes: readonly Change[]): Promise<void> {
    /** Accounts that are concerned, and whether their credentials are. */
    const accounts = new Map<string, boolean>();
    for (const { kind, id, accountId } of changes) {
      if (kind === commandKind) this.#parts.work.run('carry out a command', () => this.#carryOut(id));
      else if (kind === tunnelSessions.kind) await this.#closeIfReplaced(id);
      else if (!ownKinds.has(kind))
        accounts.set(accountId, credentialKinds.has(kind) || accounts.get(accountId) === true);
    }
    for (const [accountId, isOfCredentials] of accounts) {
      // Before the check: they may be in force by the end of it.
      const inForce = this.#inForce(accountId);
      if (inForce !== undefined) this.#checkLater(accountId, inForce);
      await this.#checkAll(this.#parts.held.ofAccount(accountId), isOfCredentials);
    }
  }

  /** Resolves when rules of the account are in force whose loading takes long; undefined where all are. */
  #inForce(accountId: string): Promise<void> | undefined {
    return this.#parts.store.settledOf(new Set([accountId]), this.#follower);
  }

  #checkLater(accountId: string, inForce: Promise<void>): void {
    const before = this.#late.get(accountId);
    const check = async (): Promise<void> => {
      await before;
      for (let waits: Promise<void> | undefined = inForce; waits !== undefined; waits = this.#inForce(accountId)) {
        // Where they cannot be loaded, that is tried again.
        const isDone = await waits.then(isSettled, isFault);
        if (isDone || this.#isStopped) break;
        await sleep(retryMs);
      }
      // Credentials were asked at once.
      await this.#checkAll(this.#parts.held.ofAccount(accountId), false);
      if (this.#late.get(accountId) === checked) this.#late.delete(accountId);
    };
    const checked = check();
    this.#late.set(accountId, checked);
  }

  #settled(accountIds: ReadonlySet<string> | undefined): Promise<void> | undefined {
    const waits = [...this.#late].flatMap(([id, checked]) => (accountIds?.has(id) === false ? [] : [checked]));
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  }

  /** No other long work holds up that agents obey. */
  #checkAll(held: readonly HeldSession[], isOfCredentials: boolean): Promise<void> {
    return runUrgently(() => this.#checkEach(held, isOfCredentials));
  }

  /** Sessions that come meanwhile are checked by themselves. */
  async #checkEach(held: readonly HeldSession[], isOfCredentials: boolean): Promise<void> {
    const pace = new Pace();
    for (const { session } of held) {
      const verdict = await findRefusal(session, isOfCredentials, this.#parts.checks);
      if ('reason' in verdict) close(session, verdict.reason);
      else if (verdict.credential !== undefined) {
        for (const tunnel of tunnelsOutside(session, verdict.credential)) this.#stop(session, tunnel);
      }
      if (pace.isDue) await pace.giveWay();
    }
  }

  #stop(session: AgentSession, tunnel: AgentTunnel): void {
    session.stopTunnel(tunnel.id, 'the acl of the credential does not allow it any more', '');
    this.#parts.stopped(session, tunnel);
  }

  /** Another process has taken the agent over. */
  async #closeIfReplaced(id: string): Promise<void> {
    const { held, store } = this.#parts;
    const replaced = held.get(id)?.session;
    if (replaced !== undefined && (await tunnelSessions.load(store.queries, id)) === undefined)
      close(replaced, 'the agent has connected again');
  }

  /** Closes sessions of which the database has lost something: when the agents are back, it is stored again. */
  async #closeLost(all: readonly HeldSession[]): Promise<void> {
    const { store } = this.#parts;
    for (const { session, stored } of all) {
      await stored.catch(() => {});
      const bound = [...session.tunnels.keys()];
      const rows = await store.queries.all('SELECT id FROM tunnels WHERE session_id = $1', [session.id]);
      const isStored = (await tunnelSessions.load(store.queries, session.id)) !== undefined;
      const kept = new Set(rows.map(([id]) => String(id)));
      if (!isStored || bound.some((id) => !kept.has(id) && session.tunnels.has(id)))
        close(session, 'the database has lost what was bound: connect again');
    }
  }

  async #carryOut(id: string): Promise<void> {
    const { commands, held } = this.#parts;
    if (this.#underWay.has(id)) return;
    this.#underWay.add(id);
    try {
      const command = await this.#retry(() => commands.open(id));
      const session = command && held.get(command.sessionId)?.session;
      if (command === undefined || session === undefined) return;
      const answer = await carryOut(session, command.command);
      await this.#retry(() => commands.answer(id, answer));
    } finally {
      this.#underWay.delete(id);
    }
  }

  /** Retries what the database has not answered, for as long as somebody waits for a command. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    const endMs = performance.now() + commandSeconds * 1000;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isOver = this.#isStopped || performance.now() >= endMs;
        if (isOver || !(error instanceof StoreUnavailableError)) throw error;
        await sleep(retryMs);
      }
    }
  }

  /** Cures what a database that was away has missed: both sides, so that neither has what the other has not. */
  async #reconcile(): Promise<void> {
    const { store, held, rows, processId } = this.#parts;
    const sql = 'SELECT id FROM tunnel_sessions WHERE process_id = $1';
    const before = held.all();
    const stored = new Set((await store.queries.all(sql, [processId])).map(([id]) => String(id)));
    for (const { session, stored: write } of before) {
      if (stored.has(session.id)) continue;
      // A session that is being written is not there yet. If it cannot be written, it is closed for that.
      await write.catch(() => {});
      await this.#closeIfReplaced(session.id);
    }
    const gone = [...stored].filter((id) => held.get(id) === undefined);
    const due = 'SELECT 1 FROM tunnel_claims WHERE held_until_ms <= $1 LIMIT 1';
    const isDue = (await store.queries.all(due, [Date.now()])).length > 0;
    if (gone.length === 0 && !isDue) return;
    await store.writeUnlogged(async (writer) => {
      for (const id of gone) await rows.removeSession(writer, id);
      await rows.sweep(writer);
    });
  }
}

async function carryOut(session: AgentSession, command: BoxedCommand): Promise<CommandAnswer> {
  if (command === 'probe') return { outcome: (await isAlive(session)) ? 'done' : 'unanswered' };
  return session.command(command);
}

const isSettled = (): boolean => true;
const isFault = (): boolean => false;

export function close(session: AgentSession, text: string): void {
  session.close({ by: 'us', code: noFault, text });
}
