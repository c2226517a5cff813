import { setTimeout as sleep } from 'node:timers/promises';

import { BoundedCache } from '../../lib/bounded-cache.ts';
import { headerValues } from '../../lib/header-list.ts';
import { newId } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { personOf } from '../../modules/sign-in.ts';
import type { SignIn, VisitorIdentity, VisitorSession } from '../../modules/sign-in.ts';
import type { KeptLogin, KeptLogins } from '../../sign-in/kept-logins.ts';
import { LoginRefused } from '../../sign-in/provider.ts';
import type { Login } from '../../sign-in/provider.ts';
import type { TrafficObserver } from '../engine.ts';
import { cookieValues, sessionCookieName, setCookie } from './cookies.ts';
import { identityHeaders } from './identity-headers.ts';
import type { Providers } from './providers.ts';
import { endOf, expiryOf, identityFrom, readSession, withIdToken, writeSession } from './session.ts';
import type { Session } from './session.ts';
import { signToken } from './upstream-token.ts';
import type { Visit } from './visit.ts';
import type { SessionFacts, VisitorKeys } from './visitor-keys.ts';

/** A session that was opened here. */
export interface OpenedSession {
  readonly context: string;
  readonly facts: SessionFacts;
  session: Session;
  identity: readonly string[];
  /** A cookie that the next answer takes along. */
  cookie: string | undefined;
  /** Undefined until one is asked for. */
  token: { readonly text: string; readonly until: number } | undefined;
  /** The check at the provider that is under way. */
  checking: Promise<void> | undefined;
  /** No check before this time, in seconds since 1970: another process asks, or nobody can. */
  quietUntil: number;
}

interface SessionsParts {
  readonly keys: VisitorKeys;
  readonly providers: Providers;
  readonly logins: KeptLogins;
  readonly observer: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  readonly clock: () => number;
}

const openedLimit = 5_000;
/** Seconds after which a use of a session is written down, in its cookie and for operators. */
const seenEverySeconds = 300;
/** An upstream takes a token for so long; one serves the requests of a session for half of that. */
const tokenSeconds = 120;
/** A sign-out is answered when it is written, and after so long in any case. */
const writtenMs = 2_000;
/** The provider, or the database, is asked again so long after it was away. */
const awaySeconds = 60;

/** Sessions of visitors, which their cookies hold. */
export class VisitorSessions {
  readonly #parts: SessionsParts;
  readonly #opened = new BoundedCache<string, OpenedSession>(openedLimit);

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  /** Seconds since 1970. */
  get now(): number {
    return Math.floor(this.#parts.clock() / 1000);
  }

  /** The session of the first cookie that opens here, over or not. */
  open(visit: Pick<Visit, 'accountId' | 'edgeId' | 'headers' | 'host'>, signIn: SignIn): OpenedSession | undefined {
    const context = contextOf(visit, signIn);
    for (const value of cookieValues(visit.headers, sessionCookieName(signIn))) {
      const opened = this.#openCookie(value, context, visit, signIn);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  #openCookie(
    value: string,
    context: string,
    { accountId, edgeId }: Pick<Visit, 'accountId' | 'edgeId'>,
    { provider }: SignIn,
  ): OpenedSession | undefined {
    const known = this.#opened.get(value);
    if (known !== undefined) return known.context === context ? known : undefined;
    const text = this.#parts.keys.open(value, context);
    if (text === undefined) return undefined;
    const session = readSession(text);
    const { id, visitor, signedInAt } = session;
    const person = personOf(accountId, provider.issuer, visitor.subject);
    return this.#keep(value, context, session, { id, accountId, edgeId, person, signedInAt });
  }

  #keep(cookie: string, context: string, session: Session, facts: SessionFacts): OpenedSession {
    const opened: OpenedSession = {
      context,
      facts,
      session,
      identity: identityHeaders(session.visitor),
      cookie: undefined,
      token: undefined,
      checking: undefined,
      quietUntil: 0,
    };
    this.#opened.set(cookie, opened);
    return opened;
  }

  /** False for a session that has ended; one that is in use, such as an open WebSocket, may be idle for long. */
  isValid({ session, facts }: OpenedSession, signIn: SignIn, isIdleCounted = true): boolean {
    return !this.#parts.keys.isEnded(facts) && endOf(session, signIn, this.now, isIdleCounted) === undefined;
  }

  /** Begins a session, and answers its cookie. */
  async begin(
    visit: Visit,
    routeId: string,
    signIn: SignIn,
    visitor: VisitorIdentity,
    { token, idToken }: Pick<Login, 'token' | 'idToken'>,
  ): Promise<string> {
    const { now } = this;
    const { accountId, edgeId } = visit;
    const person = personOf(accountId, signIn.provider.issuer, visitor.subject);
    const begun = {
      id: newId('as'),
      visitor,
      signedInAt: this.#parts.keys.beginsAt(now, { accountId, edgeId, person }),
      seenAt: now,
      endsAt: now + signIn.maximumSeconds,
      checkedAt: now,
      formerToken: undefined,
    };
    const session = signIn.keepsIdToken?.() === true ? withIdToken(begun, idToken) : begun;
    const cookie = this.#cookieOf(visit, signIn, session);
    const told = toldOf(visit, routeId, signIn, session);
    // Where it cannot be kept, the first check asks for another login.
    if (signIn.checkSeconds > 0)
      await this.#parts.logins.keep(told, { token, visitor }).catch((error: unknown) => {
        this.#parts.providers.logFault(signIn.provider, error);
      });
    this.#parts.observer.visitorSeen(told);
    return cookie;
  }

  /** Ends a session here at once. Resolves when that is written, or has waited for long enough. */
  async end(
    { accountId, edgeId }: Pick<Visit, 'accountId' | 'edgeId'>,
    { provider }: SignIn,
    session: Session,
  ): Promise<void> {
    const { id, visitor, signedInAt, endsAt } = session;
    this.#parts.keys.end(accountId, id);
    const told = { name: provider.name, url: provider.issuer };
    const { subject } = visitor;
    const left = { id, accountId, edgeId, provider: told, subject, signedInAt, endsAt };
    const written = this.#parts.logins.leave(left).catch(() => {
      this.#parts.observer.visitorLeft(left);
    });
    const late = new AbortController();
    await Promise.race([written, sleep(writtenMs, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
  }

  /** Writes down now and then that a session was used: its time without use begins anew. */
  use(visit: Visit, routeId: string, signIn: SignIn, opened: OpenedSession): void {
    const { now } = this;
    if (now < opened.session.seenAt + seenEvery(signIn)) return;
    opened.session = { ...opened.session, seenAt: now };
    opened.cookie = this.#cookieOf(visit, signIn, opened.session);
    this.#parts.observer.visitorSeen(toldOf(visit, routeId, signIn, opened.session));
  }

  isCheckDue({ session, quietUntil }: OpenedSession, { checkSeconds }: SignIn): boolean {
    const { now } = this;
    return checkSeconds > 0 && now >= session.checkedAt + checkSeconds && now >= quietUntil;
  }

  /** Asks the provider whether the login holds, once for all requests that wait for it. */
  async check(visit: Visit, signIn: SignIn, opened: OpenedSession): Promise<undefined> {
    opened.checking ??= this.#check(visit, signIn, opened)
      .catch((error: unknown) => {
        // Without the database nobody can be asked: the session goes on.
        this.#parts.providers.logFault(signIn.provider, error);
        opened.quietUntil = this.now + awaySeconds;
      })
      .finally(() => {
        opened.checking = undefined;
      });
    await opened.checking;
    return undefined;
  }

  async #check(visit: Visit, signIn: SignIn, opened: OpenedSession): Promise<void> {
    const { session } = opened;
    const { id: sessionId, visitor, formerToken } = session;
    const former = formerToken && { token: formerToken, visitor };
    const { accountId } = visit;
    const { now } = this;
    const claimed = await this.#parts.logins.claim({
      sessionId,
      accountId,
      now,
      checkSeconds: signIn.checkSeconds,
      former,
    });
    switch (claimed.state) {
      case 'claimed':
        await this.#ask(visit, signIn, opened, claimed.login);
        break;
      case 'asked':
        this.#renew(visit, signIn, opened, claimed.login.visitor, claimed.checkedAt);
        break;
      case 'asking':
        opened.quietUntil = now + 1;
        break;
      case 'gone':
        await this.end(visit, signIn, session);
        break;
    }
  }

  async #ask(visit: Visit, signIn: SignIn, opened: OpenedSession, { token, visitor }: KeptLogin): Promise<void> {
    const { provider, checkSeconds } = signIn;
    const session = { id: opened.session.id, accountId: visit.accountId };
    let known: KeptLogin | undefined;
    let idToken: string | undefined;
    try {
      const answer = await this.#parts.providers.get(visit.accountId, provider).check(visitor.subject, token);
      known = { token: answer.token, visitor: identityFrom(answer.claims, signIn) };
      ({ idToken } = answer);
    } catch (error) {
      if (error instanceof LoginRefused) {
        await this.end(visit, signIn, opened.session);
        return;
      }
      this.#parts.providers.logFault(provider, error);
    }
    // Where the provider is away, the session goes on, and it is asked again in a minute.
    const checkedAt = known === undefined ? this.now - checkSeconds + Math.min(awaySeconds, checkSeconds) : this.now;
    this.#renew(visit, signIn, opened, (known ?? opened.session).visitor, checkedAt, idToken);
    await this.#parts.logins.release(session, checkedAt, known);
  }

  /** Takes over what the provider has last said. */
  #renew(
    visit: Visit,
    signIn: SignIn,
    opened: OpenedSession,
    visitor: VisitorIdentity,
    checkedAt: number,
    idToken?: string,
  ): void {
    const before = opened.session.idToken;
    const session = { ...opened.session, visitor, checkedAt, formerToken: undefined };
    opened.session = before === undefined ? session : withIdToken(session, idToken ?? before);
    opened.identity = identityHeaders(visitor);
    opened.token = undefined;
    opened.cookie = this.#cookieOf(visit, signIn, opened.session);
  }

  async renewToken(visit: Visit, opened: OpenedSession): Promise<undefined> {
    const { now } = this;
    const text = await signToken(this.#parts.keys, `https://${visit.host}`, opened.session.visitor, now, tokenSeconds);
    opened.token = { text, until: now + tokenSeconds / 2 };
    return undefined;
  }

  #cookieOf(visit: Visit, signIn: SignIn, session: Session): string {
    const sealed = this.#parts.keys.seal(writeSession(session), contextOf(visit, signIn));
    return setCookie(sessionCookieName(signIn), sealed, signIn.maximumSeconds);
  }
}

/** The session as operators see it. */
function toldOf(visit: Visit, routeId: string, signIn: SignIn, session: Session): VisitorSession {
  const { visitor } = session;
  return {
    id: session.id,
    accountId: visit.accountId,
    edgeId: visit.edgeId,
    routeId,
    host: visit.host,
    provider: { name: signIn.provider.name, url: signIn.provider.issuer },
    subject: visitor.subject,
    email: visitor.email,
    name: visitor.name,
    groups: visitor.groups,
    source: formatIp(visit.source),
    userAgent: (headerValues(visit.headers, 'user-agent')[0] ?? '').slice(0, 500),
    signedInAt: session.signedInAt,
    seenAt: session.seenAt,
    expiresAt: expiryOf(session, signIn),
    endsAt: session.endsAt,
  };
}

function seenEvery({ inactivitySeconds }: SignIn): number {
  return inactivitySeconds === 0
    ? seenEverySeconds
    : Math.min(seenEverySeconds, Math.max(1, Math.floor(inactivitySeconds / 8)));
}

/** A session is of one account, edge, host and provider: a cookie is good for nothing anywhere else. */
function contextOf({ accountId, edgeId, host }: Pick<Visit, 'accountId' | 'edgeId' | 'host'>, { key }: SignIn): string {
  return `visitor session ${accountId} ${edgeId} ${host} ${key}`;
}
