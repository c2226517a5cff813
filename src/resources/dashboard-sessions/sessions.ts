import { refused } from '../../api/admission/bearer.ts';
import type {
  Identity,
  NewSession,
  Principal,
  SessionCredential,
  SessionIdentity,
  Sessions,
} from '../../api/admission/caller.ts';
import { sessionOver } from '../../api/dashboard/errors.ts';
import { tokenUnknown } from '../../api/errors.ts';
import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { hashSecret, newSecret, secretMatchesAny } from '../../lib/secrets.ts';
import { ready, whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { authenticator } from '../api-keys/service.ts';
import type { ResourceContext } from '../resource.ts';
import { describeSession } from './describe.ts';
import { deleteSessions, insertSession, olderSessions, readSession, sessionKind, touchSession } from './table.ts';
import type { StoredSession } from './table.ts';

/** Sessions in memory; others are read again when they call. */
const cacheSize = 10_000;
/** Shortest interval between two writes of when a session was last used, in each process. */
const touchEveryMs = 60_000;

interface KnownSession extends StoredSession {
  /** When it was last used here. */
  usedAtMs: number;
  /** When its last use was last written, here or elsewhere. */
  writtenAtMs: number;
}

export function createSessions(context: ResourceContext): Sessions {
  return new StoredSessions(context);
}

/** Sessions in the database, of which those in use are in memory. The key behind one is looked up at each call. */
class StoredSessions implements Sessions {
  readonly idleSeconds: number;
  readonly #context: ResourceContext;
  readonly #idleMs: number;
  readonly #known = new BoundedCache<string, KnownSession>(cacheSize);

  constructor(context: ResourceContext) {
    this.#context = context;
    this.idleSeconds = context.settings.dashboard.idleSeconds;
    this.#idleMs = this.idleSeconds * 1000;
    context.store.follow({
      changed: (changes) => {
        for (const { kind, id } of changes) if (kind === sessionKind) this.#known.drop(id);
      },
      reset: () => {
        this.#known.clear();
      },
    });
  }

  async begin({ principal, keyId }: Identity, token: string): Promise<NewSession> {
    const { store, services, settings } = this.#context;
    const [secret, cookie] = [newSecret(), newSecret()];
    const nowMs = Date.now();
    const session: StoredSession = {
      hash: hashSecret(secret),
      cookieHash: hashSecret(cookie),
      accountId: principal.accountId,
      principalId: principal.id,
      keyId,
      tokenHash: services.get(authenticator).hashOf(token),
      expiresAtMs: nowMs + settings.dashboard.sessionSeconds * 1000,
      seenAtMs: nowMs,
    };
    const replaced = await store.writeUnlogged(async (writer) => {
      await insertSession(writer, session);
      const older = await olderSessions(writer, principal.id, settings.dashboard.sessionsPerPrincipal);
      await deleteSessions(writer, principal.accountId, older);
      return older.length;
    }, principal.accountId);
    return { secret, cookie, expiresAtMs: session.expiresAtMs, replaced };
  }

  resume({ secret, cookies }: SessionCredential): Awaitable<SessionIdentity> {
    return whenReady(this.#find(hashSecret(secret)), (session) => {
      if (!hasCookieOf(session, cookies)) throw refused(sessionOver);
      return this.#identify(session, true);
    });
  }

  async end({ secret, cookies }: SessionCredential): Promise<void> {
    const session = await readSession(this.#context.store.queries, hashSecret(secret));
    if (session !== undefined && hasCookieOf(session, cookies)) await this.#delete(session);
  }

  async endAll({ id, accountId }: Principal): Promise<void> {
    await this.#context.store.writeUnlogged(async (writer) => {
      await deleteSessions(writer, accountId, await olderSessions(writer, id, 0));
    }, accountId);
  }

  describe(identity: Identity, restrictionIds: readonly string[]) {
    return describeSession(this.#context, identity, restrictionIds);
  }

  #find(hash: string): Awaitable<KnownSession> {
    // A stale cache may still hold a session that another process has ended.
    const known = this.#context.store.isStale ? undefined : this.#known.get(hash);
    return known === undefined || this.#isIdle(known) ? this.#load(hash) : ready(known);
  }

  #identify(session: KnownSession, isUse: boolean): Awaitable<SessionIdentity> {
    const { hash, expiresAtMs, keyId, tokenHash } = session;
    if (Date.now() >= expiresAtMs || this.#isIdle(session)) throw refused(sessionOver);
    const again = (isUseAgain: boolean) => whenReady(this.#find(hash), (found) => this.#identify(found, isUseAgain));
    const finish = (identity: Identity): SessionIdentity => {
      if (isUse) this.#touch(session);
      return { ...identity, expiresAtMs, again };
    };
    const fail = (fault: unknown) => this.#fail(session, fault);
    try {
      const identity = this.#context.services.get(authenticator).authenticateAgain(keyId, tokenHash, isUse);
      return whenReady(identity instanceof Promise ? identity.catch(fail) : identity, finish);
    } catch (fault) {
      return fail(fault);
    }
  }

  /** A session whose token let nobody in once is over for good, also if a key is prolonged or an owner activated again. */
  async #fail(session: StoredSession, fault: unknown): Promise<never> {
    if (!(fault instanceof UserError)) throw fault;
    // It is refused in any case; one that cannot be deleted is refused for the same reason again.
    await this.#delete(session).catch(() => {});
    // The token is gone: to the browser, that is the end of the session. Other faults say more.
    throw fault.code === tokenUnknown.code ? refused(sessionOver) : fault;
  }

  async #delete({ accountId, hash }: StoredSession): Promise<void> {
    await this.#context.store.writeUnlogged((writer) => deleteSessions(writer, accountId, [hash]), accountId);
  }

  /** Other processes see its uses here within the interval. */
  #touch(session: KnownSession): void {
    const nowMs = Date.now();
    session.usedAtMs = nowMs;
    if (nowMs - session.writtenAtMs < Math.min(touchEveryMs, this.#idleMs / 4)) return;
    session.writtenAtMs = nowMs;
    const { hash, accountId } = session;
    this.#context.store
      .writeUnlogged((writer) => touchSession(writer, hash, nowMs), accountId)
      // A use that cannot be written is lost; the next one after the interval is written again.
      .catch(() => {});
  }

  async #load(hash: string): Promise<KnownSession> {
    const ticket = this.#known.ticket();
    const stored = await readSession(this.#context.store.queries, hash);
    if (stored === undefined) throw refused(sessionOver);
    const usedHereMs = this.#known.get(hash)?.usedAtMs ?? 0;
    const session = { ...stored, usedAtMs: Math.max(stored.seenAtMs, usedHereMs), writtenAtMs: stored.seenAtMs };
    this.#known.fill(ticket, hash, session);
    return session;
  }

  #isIdle({ usedAtMs }: KnownSession): boolean {
    return Date.now() - usedAtMs >= this.#idleMs;
  }
}

/** The cookies of a caller who does not know the other secret are not even looked at. */
function hasCookieOf({ cookieHash }: StoredSession, cookies: readonly string[]): boolean {
  return cookies.some((cookie) => secretMatchesAny(cookie, cookieHash, undefined));
}
