import { refused } from '../../api/admission/bearer.ts';
import type {
  EndedSession,
  Identity,
  NewSession,
  Principal,
  SessionCredential,
  SessionIdentity,
  Sessions,
  SignInPlace,
} from '../../api/admission/caller.ts';
import { sessionOver } from '../../api/dashboard/errors.ts';
import { ownerInactive, tokenUnknown } from '../../api/errors.ts';
import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { hasElapsed } from '../../lib/elapsed.ts';
import { hashSecret, newSecret, secretMatchesAny } from '../../lib/secrets.ts';
import { ready, whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { authenticator } from '../api-keys/service.ts';
import { operatorSignIn } from '../changes/service.ts';
import { toldOf } from '../events/service.ts';
import { principals } from '../principals/service.ts';
import type { ResourceContext } from '../resource.ts';
import { describeSession } from './describe.ts';
import { contextOf, LoginChecks } from './login-checks.ts';
import type { CheckedSession } from './login-checks.ts';
import type { ConfirmedLogin, ProviderLogin } from './provider-login.ts';
import {
  deleteSessions,
  insertSession,
  olderSessions,
  readSession,
  sessionKind,
  touchSession,
  writeUserSeen,
} from './table.ts';
import type { BegunAtProvider, StoredSession } from './table.ts';

/** Sessions in memory; others are read again when they call. */
const cacheSize = 10_000;
/** Shortest interval between two writes of when a session was last used, in each process. */
const touchEveryMs = 60_000;
/** Longest session of a login that the provider cannot be asked about again, because it gave no refresh token. */
const uncheckedMs = 3_600_000;

const typeOfSignIn = 'operator_signed_in.v0';
const principalKinds: ReadonlySet<string> = new Set(['user', 'bot_user']);

interface KnownSession extends Omit<StoredSession, 'begunWith'>, CheckedSession {
  /** When it was last used here. */
  usedAtMs: number;
  /** When its last use was last written, here or elsewhere. */
  writtenAtMs: number;
}

/**
 * Sessions in the database, of which those in use are in memory. The key behind one, or the user, is looked up at each call,
 * and the provider is asked now and then.
 */
export class StoredSessions implements Sessions {
  readonly idleSeconds: number;
  readonly #context: ResourceContext;
  readonly #idleMs: number;
  readonly #login: ProviderLogin | undefined;
  readonly #checks: LoginChecks;
  readonly #known = new BoundedCache<string, KnownSession>(cacheSize);

  constructor(context: ResourceContext, login: ProviderLogin | undefined) {
    this.#context = context;
    this.#login = login;
    this.#checks = new LoginChecks(context, login, {
      moved: ({ hash }) => this.#known.drop(hash),
      ended: (session) => this.#delete(session),
    });
    this.idleSeconds = context.settings.dashboard.idleSeconds;
    this.#idleMs = this.idleSeconds * 1000;
    context.store.follow({
      changed: (changes) => {
        for (const { kind, id } of changes) if (kind === sessionKind) this.#known.drop(id);
        // Somebody who is active again has no session of before. Those of others are read again.
        if (changes.some(({ kind }) => principalKinds.has(kind))) this.#known.clear();
      },
      reset: () => {
        this.#known.clear();
      },
    });
  }

  async begin({ principal, keyId = '' }: Identity, token: string, call: SignInPlace): Promise<NewSession> {
    await this.#tell(principal, call, { key_id: keyId });
    const tokenHash = this.#context.services.get(authenticator).hashOf(token);
    return this.#begin(principal, () => ({ keyId, tokenHash }));
  }

  /** Begins a session for somebody whom the provider has confirmed. */
  async beginAtProvider(
    principal: Principal,
    { person: { subject }, refreshToken }: ConfirmedLogin,
    issuer: string,
    call: SignInPlace,
  ): Promise<{ readonly identity: SessionIdentity; readonly session: NewSession }> {
    await this.#tell(principal, call, { identity_provider: issuer, provider_user_id: subject });
    const session = await this.#begin(
      principal,
      (hash, nowMs) => ({
        keyId: undefined,
        issuer,
        subject,
        refreshToken: refreshToken && this.#context.sealer.seal(refreshToken, contextOf(hash)),
        checkedAtMs: nowMs,
      }),
      refreshToken === undefined ? uncheckedMs : Infinity,
    );
    const { secret, cookie } = session;
    return { identity: await this.resume({ secret, cookies: [cookie] }), session };
  }

  /** Before the session is there: nobody gets in unseen. It costs a version, so that only those who are told of it have it. */
  async #tell({ id, accountId }: Principal, { operationId, source }: SignInPlace, by: object): Promise<void> {
    const { services, store } = this.#context;
    if (!(await services.get(toldOf)(accountId, typeOfSignIn))) return;
    const after = JSON.stringify({ id, client_ip: formatIp(source), ...by });
    const call = { source, scope: 'dashboard' } as const;
    await store.write({ id, accountId, operationId, call }, async (transaction) => {
      transaction.record({ accountId, kind: operatorSignIn, id, before: null, after, cascades: false });
    });
  }

  async #begin(
    principal: Principal,
    begunWith: (hash: string, nowMs: number) => StoredSession['begunWith'],
    longestMs = Infinity,
  ): Promise<NewSession> {
    const { store, settings } = this.#context;
    const [secret, cookie] = [newSecret(), newSecret()];
    const nowMs = Date.now();
    const hash = hashSecret(secret);
    const session: StoredSession = {
      hash,
      cookieHash: hashSecret(cookie),
      accountId: principal.accountId,
      principalId: principal.id,
      begunWith: begunWith(hash, nowMs),
      expiresAtMs: nowMs + Math.min(longestMs, settings.dashboard.sessionSeconds * 1000),
      seenAtMs: nowMs,
    };
    const replaced = await store.writeUnlogged(async (writer) => {
      await insertSession(writer, session);
      if (session.begunWith.keyId === undefined) await writeUserSeen(writer, principal.id, nowMs);
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

  async end({ secret, cookies }: SessionCredential): Promise<EndedSession | undefined> {
    const session = await readSession(this.#context.store.queries, hashSecret(secret));
    if (session === undefined || !hasCookieOf(session, cookies)) return undefined;
    await this.#delete(session);
    return { isOfProvider: session.begunWith.keyId === undefined };
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
    const { hash, expiresAtMs, begunWith } = session;
    if (Date.now() >= expiresAtMs || this.#isIdle(session)) throw refused(sessionOver);
    const again = (isUseAgain: boolean) => whenReady(this.#find(hash), (found) => this.#identify(found, isUseAgain));
    const finish = (identity: Identity): SessionIdentity => {
      if (isUse) this.#touch(session);
      return { ...identity, expiresAtMs, again };
    };
    const fail = (fault: unknown) => this.#fail(session, fault);
    try {
      const identity =
        begunWith.keyId === undefined
          ? this.#identifyAtProvider(session, begunWith, again)
          : this.#context.services.get(authenticator).authenticateAgain(begunWith.keyId, begunWith.tokenHash, isUse);
      return whenReady(identity instanceof Promise ? identity.catch(fail) : identity, finish);
    } catch (fault) {
      return fail(fault);
    }
  }

  /** The user of a session that was begun at the provider, which is asked first where it is time. */
  #identifyAtProvider(
    session: KnownSession,
    { issuer, refreshToken, checkedAtMs }: BegunAtProvider,
    again: Identity['again'],
  ): Awaitable<Identity> {
    // Sessions of a provider that is no longer set are over.
    if (this.#login?.settings.provider.issuer !== issuer) throw refused(sessionOver);
    const isDue = hasElapsed(checkedAtMs, this.#login.settings.checkSeconds * 1000);
    const find = () => {
      const { accountId, principalId } = session;
      return whenReady(this.#context.services.get(principals).find(accountId, principalId), (principal): Identity => {
        if (principal === undefined) throw refused(sessionOver);
        if (!principal.active) throw new UserError(ownerInactive, { owner: principal.id });
        const key = { keyId: undefined, readOnly: false, endsAtMs: Infinity, rotation: 0, policyIds: [] };
        return { principal, ...key, again };
      });
    };
    return isDue && refreshToken !== undefined ? this.#checks.check(session).then(find) : find();
  }

  /** A session whose token let nobody in once is over for good, also if a key is prolonged or an owner activated again. */
  async #fail(session: KnownSession, fault: unknown): Promise<never> {
    if (!(fault instanceof UserError)) throw fault;
    // The session is refused in any case; one that cannot be deleted is refused for the same reason again.
    await this.#delete(session).catch(() => {});
    // The token is gone: to the browser, that is the end of the session. Other faults say more.
    throw fault.code === tokenUnknown.code ? refused(sessionOver) : fault;
  }

  async #delete({ accountId, hash }: Pick<StoredSession, 'accountId' | 'hash'>): Promise<void> {
    await this.#context.store.writeUnlogged((writer) => deleteSessions(writer, accountId, [hash]), accountId);
  }

  /** Other processes see its uses here within the interval. */
  #touch(session: KnownSession): void {
    const nowMs = Date.now();
    session.usedAtMs = nowMs;
    if (!hasElapsed(session.writtenAtMs, Math.min(touchEveryMs, this.#idleMs / 4), nowMs)) return;
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
    const session = {
      ...stored,
      usedAtMs: Math.max(stored.seenAtMs, usedHereMs),
      writtenAtMs: stored.seenAtMs,
      checking: undefined,
    };
    this.#known.fill(ticket, hash, session);
    return session;
  }

  #isIdle({ usedAtMs }: KnownSession): boolean {
    return hasElapsed(usedAtMs, this.#idleMs);
  }
}

/** The cookies of a caller who does not know the other secret are not even looked at. */
function hasCookieOf({ cookieHash }: Pick<StoredSession, 'cookieHash'>, cookies: readonly string[]): boolean {
  return cookies.some((cookie) => secretMatchesAny(cookie, cookieHash, undefined));
}
