import { BoundedCache } from '../../lib/bounded-cache.ts';
import { newId } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { headerValues } from '../../modules/header-values.ts';
import type { SignIn, VisitorIdentity } from '../../modules/sign-in.ts';
import { LoginRefused } from '../../sign-in/provider.ts';
import type { ProviderToken } from '../../sign-in/provider.ts';
import type { TrafficObserver } from '../engine.ts';
import { readCookie, sessionCookieName, setCookie } from './cookies.ts';
import { identityHeaders } from './identity-headers.ts';
import type { Providers } from './providers.ts';
import { endOf, expiryOf, identityFrom, readSession, writeSession } from './session.ts';
import type { Session } from './session.ts';
import { signToken } from './upstream-token.ts';
import type { Visit } from './visit.ts';
import type { VisitorKeys } from './visitor-keys.ts';

/** A session that was opened here. */
export interface Opened {
  readonly context: string;
  session: Session;
  identity: readonly string[];
  /** A cookie that the next answer takes along. */
  cookie: string | undefined;
  /** Undefined until one is asked for. */
  token: { readonly text: string; readonly until: number } | undefined;
  /** The check at the provider that is under way. */
  checking: Promise<void> | undefined;
}

interface SessionsParts {
  readonly keys: VisitorKeys;
  readonly providers: Providers;
  readonly observer: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  readonly clock: () => number;
}

const openedLimit = 5_000;
/** Seconds after which a use of a session is written down, in its cookie and for operators. */
const seenEverySeconds = 300;
/** An upstream takes a token for so long; one serves the requests of a session for half of that. */
const tokenSeconds = 120;

/** Sessions of visitors, which their cookies hold. */
export class VisitorSessions {
  readonly #parts: SessionsParts;
  readonly #opened = new BoundedCache<string, Opened>(openedLimit);

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  /** Seconds since 1970. */
  get now(): number {
    return Math.floor(this.#parts.clock() / 1000);
  }

  /** The session of a cookie, over or not. */
  open(visit: Pick<Visit, 'accountId' | 'edgeId' | 'headers' | 'host'>, signIn: SignIn): Opened | undefined {
    const value = readCookie(visit.headers, sessionCookieName(signIn));
    if (value === undefined || value === '') return undefined;
    const context = contextOf(visit, signIn);
    const known = this.#opened.get(value);
    if (known !== undefined) return known.context === context ? known : undefined;
    const text = this.#parts.keys.open(value, context);
    if (text === undefined) return undefined;
    return this.#keep(value, context, readSession(text));
  }

  #keep(cookie: string, context: string, session: Session): Opened {
    const opened: Opened = {
      context,
      session,
      identity: identityHeaders(session.visitor),
      cookie: undefined,
      token: undefined,
      checking: undefined,
    };
    this.#opened.fill(this.#opened.ticket(), cookie, opened);
    return opened;
  }

  /** False for a session that has ended; one that is in use, such as an open WebSocket, may be idle for long. */
  isOn({ session }: Opened, signIn: SignIn, isIdleCounted = true): boolean {
    return !this.#parts.keys.isEnded(session.id) && endOf(session, signIn, this.now, isIdleCounted) === undefined;
  }

  /** Begins a session, and answers its cookie. */
  begin(visit: Visit, routeId: string, signIn: SignIn, visitor: VisitorIdentity, token: ProviderToken): string {
    const { now } = this;
    const session = {
      id: newId('as'),
      visitor,
      signedInAt: now,
      seenAt: now,
      endsAt: now + signIn.maximumSeconds,
      checkedAt: now,
      token: signIn.checkSeconds > 0 ? token : undefined,
    };
    const cookie = this.#cookieOf(visit, signIn, session);
    this.#tell(visit, routeId, signIn, session);
    return cookie;
  }

  end({ accountId }: Pick<Visit, 'accountId'>, { id, endsAt }: Session): void {
    this.#parts.keys.end(id);
    this.#parts.observer.visitorLeft({ id, accountId, endsAt });
  }

  /** Writes down now and then that a session was used: its time without use begins anew. */
  use(visit: Visit, routeId: string, signIn: SignIn, opened: Opened): void {
    const { now } = this;
    if (now < opened.session.seenAt + seenEvery(signIn)) return;
    opened.session = { ...opened.session, seenAt: now };
    opened.cookie = this.#cookieOf(visit, signIn, opened.session);
    this.#tell(visit, routeId, signIn, opened.session);
  }

  isCheckDue({ session }: Opened, { checkSeconds }: SignIn): boolean {
    return checkSeconds > 0 && this.now >= session.checkedAt + checkSeconds;
  }

  /** Asks the provider whether the login holds, once for all requests that wait for it. */
  async check(visit: Visit, signIn: SignIn, opened: Opened): Promise<'again'> {
    opened.checking ??= this.#checkAtProvider(visit, signIn, opened).finally(() => {
      opened.checking = undefined;
    });
    await opened.checking;
    return 'again';
  }

  async #checkAtProvider(visit: Visit, signIn: SignIn, opened: Opened): Promise<void> {
    const { session } = opened;
    try {
      if (session.token === undefined) throw new LoginRefused('there is no token to ask with');
      const { claims, token } = await this.#parts.providers
        .get(signIn.provider)
        .check(session.visitor.subject, session.token);
      opened.session = { ...session, token, visitor: identityFrom(claims, signIn), checkedAt: this.now };
      opened.identity = identityHeaders(opened.session.visitor);
      opened.token = undefined;
    } catch (error) {
      if (error instanceof LoginRefused) {
        this.end(visit, session);
        return;
      }
      this.#parts.providers.logFault(signIn.provider, error);
      // The session goes on; the provider is asked again in a minute.
      opened.session = { ...session, checkedAt: this.now - signIn.checkSeconds + Math.min(60, signIn.checkSeconds) };
    }
    opened.cookie = this.#cookieOf(visit, signIn, opened.session);
  }

  async renewToken(visit: Visit, opened: Opened): Promise<'again'> {
    const { now } = this;
    const text = await signToken(this.#parts.keys, `https://${visit.host}`, opened.session.visitor, now, tokenSeconds);
    opened.token = { text, until: now + tokenSeconds / 2 };
    return 'again';
  }

  #cookieOf(visit: Visit, signIn: SignIn, session: Session): string {
    const sealed = this.#parts.keys.seal(writeSession(session), contextOf(visit, signIn));
    return setCookie(sessionCookieName(signIn), sealed, signIn.maximumSeconds);
  }

  #tell(visit: Visit, routeId: string, signIn: SignIn, session: Session): void {
    const { visitor } = session;
    this.#parts.observer.visitorSeen({
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
    });
  }
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
