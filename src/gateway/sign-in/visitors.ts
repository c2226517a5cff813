import { refusedByModule, signInRequired } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { newId } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { headerValues } from '../../modules/header-values.ts';
import type { AccessRules, HeaderList } from '../../modules/module.ts';
import { judgeVisitor } from '../../modules/sign-in.ts';
import type { SignIn, SignInProvider, VisitorIdentity } from '../../modules/sign-in.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';
import {
  clearCookie,
  loginCookieName,
  loginSeconds,
  readCookie,
  sessionCookieName,
  setCookie,
  staleLogins,
} from './cookies.ts';
import { createFetch } from './guarded-fetch.ts';
import type { Fetch } from './guarded-fetch.ts';
import { identityHeaders } from './identity-headers.ts';
import { OwnAnswer } from './own-answer.ts';
import type { Answer } from './own-answer.ts';
import { plainText, renderPage } from './pages.ts';
import type { VisitorPage } from './pages.ts';
import { LoginRefused, Provider, ProviderDown } from './provider.ts';
import type { LoginSecrets } from './provider.ts';
import { endOf, expiryOf, identityFrom, readSession, writeSession } from './session.ts';
import type { Session } from './session.ts';
import { publicKeys, signToken } from './upstream-token.ts';
import type { VisitorKeys } from './visitor-keys.ts';

/** Every path that begins so belongs to the gateway, at edges where visitors sign in. */
export const ownPrefix = '/.gatehouse/';
const signInPath = `${ownPrefix}sign-in`;
const callbackPath = `${signInPath}/callback`;
const signOutPath = `${ownPrefix}sign-out`;
const keysPath = `${ownPrefix}jwks.json`;

/** A request, as far as a login depends on it. */
export interface Visit {
  readonly accountId: string;
  readonly edgeId: string;
  readonly method: string;
  readonly headers: HeaderList;
  /** Host, and port where it is not the usual one. */
  readonly host: string;
  /** Path and query. */
  readonly target: string;
  readonly source: IpAddress;
  /** Of the request, for pages. */
  readonly operationId: () => string;
}

/** The routes of an edge, as far as logins depend on them. */
export interface SignInRoutes {
  readonly signIns: ReadonlyMap<string, SignIn> | undefined;
  /** The logins of the route that a path leads to; undefined where it leads to none. */
  signInsAt(target: string): { readonly routeId: string; readonly signIns: readonly SignIn[] } | undefined;
}

/** A visitor who may pass. */
export interface Admitted {
  /** Headers for the upstream. */
  readonly identity: readonly string[];
  /** A cookie that goes with the answer. */
  readonly cookie: string | undefined;
  /** When the session is over, in seconds since 1970. */
  readonly until: number | undefined;
}

/** A session that was opened here. */
interface Opened {
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

interface VisitorsParts {
  readonly keys: VisitorKeys;
  readonly connect: ConnectUpstream;
  readonly observer: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  readonly log: GatewayLog;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

const openedLimit = 5_000;
const providerLimit = 1_000;
/** Seconds after which a use of a session is written down, in its cookie and for operators. */
const seenEverySeconds = 300;
const retrySeconds = 10;
const longestTarget = 1_500;
/** An upstream takes a token for so long; one serves the requests of a session for half of that. */
const tokenSeconds = 120;
const anonymous: Admitted = { identity: [], cookie: undefined, until: undefined };

/** Knows visitors by their cookies, and signs in those who have none. */
export class Visitors {
  readonly #parts: VisitorsParts;
  readonly #fetch: Fetch;
  readonly #opened = new BoundedCache<string, Opened>(openedLimit);
  readonly #providers = new BoundedCache<string, Provider>(providerLimit);
  readonly #clock: () => number;

  constructor(parts: VisitorsParts) {
    this.#parts = parts;
    this.#fetch = createFetch(parts.connect);
    this.#clock = parts.clock ?? Date.now;
  }

  get #now(): number {
    return Math.floor(this.#clock() / 1000);
  }

  /** Throws the answer to a visitor who may not pass, or not yet. */
  admit(visit: Visit, routeId: string, signIns: readonly SignIn[], access: AccessRules): Admitted {
    let admitted = anonymous;
    for (const signIn of signIns) {
      const one = this.#admitBy(visit, routeId, signIn, access);
      if (one !== anonymous) admitted = one;
    }
    return admitted;
  }

  /** True if a connection that such a request has opened may stay open. */
  mayStay(
    visit: Pick<Visit, 'accountId' | 'edgeId' | 'headers' | 'host' | 'source'>,
    signIns: readonly SignIn[],
    access: AccessRules,
  ): boolean {
    return signIns.every((signIn) => {
      const inside = signIn.network !== undefined && access.allows(signIn.network.policyIds, visit.source);
      if (signIn.network?.rule === 'and_login' && !inside) return false;
      if (signIn.network?.rule === 'or_login' && inside) return true;
      const opened = this.#open(visit, signIn);
      if (opened === undefined || this.#parts.keys.isEnded(opened.session.id)) return false;
      if (endOf(opened.session, signIn, this.#now, false) !== undefined) return false;
      return judgeVisitor(signIn.mayEnter, opened.session.visitor) === 'enters';
    });
  }

  /** The answer to a request for a path of the gateway's own. */
  async answer(visit: Visit, routes: SignInRoutes): Promise<Answer> {
    const url = new URL(visit.target, `https://${visit.host}`);
    const { method } = visit;
    if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && url.pathname === signOutPath))
      return this.#page(visit, {
        status: 405,
        title: 'Not here',
        text: ['This address takes no such request.'],
        headers: ['Allow', 'GET, HEAD'],
      });
    switch (url.pathname) {
      case callbackPath:
        return this.#finish(visit, url, routes);
      case signInPath:
        return this.#start(visit, url, routes);
      case signOutPath:
        return this.#signOut(visit, routes);
      case keysPath:
        return {
          status: 200,
          headers: ['Content-Type', 'application/json', 'Cache-Control', 'public, max-age=300'],
          body: JSON.stringify(await publicKeys(this.#parts.keys)),
        };
      default:
        return this.#page(visit, {
          status: 404,
          title: 'There is no such page',
          text: ['Addresses that begin with `/.gatehouse/` belong to the sign-in.'],
          links: [['To the start', '/']],
        });
    }
  }

  #admitBy(visit: Visit, routeId: string, signIn: SignIn, access: AccessRules): Admitted {
    if (signIn.optionsPassthrough && visit.method === 'OPTIONS') return anonymous;
    const inside = signIn.network !== undefined && access.allows(signIn.network.policyIds, visit.source);
    if (signIn.network?.rule === 'and_login' && !inside)
      throw new UserError(refusedByModule, { address: formatIp(visit.source) });
    const needsNoLogin = inside && signIn.network?.rule === 'or_login';
    const opened = this.#open(visit, signIn);
    const now = this.#now;
    if (
      opened === undefined ||
      this.#parts.keys.isEnded(opened.session.id) ||
      endOf(opened.session, signIn, now) !== undefined
    ) {
      if (needsNoLogin) return anonymous;
      throw this.#ask(visit, signIn);
    }
    if (signIn.checkSeconds > 0 && now >= opened.session.checkedAt + signIn.checkSeconds)
      throw new OwnAnswer(() => this.#check(visit, signIn, opened));
    const verdict = judgeVisitor(signIn.mayEnter, opened.session.visitor);
    if (verdict !== 'enters') {
      if (needsNoLogin) return anonymous;
      if (verdict === 'unknown') throw this.#ask(visit, signIn);
      throw new OwnAnswer(async () => this.#refused(visit, signIn, opened.session.visitor, visit.target, true));
    }
    if (now >= opened.session.seenAt + seenEvery(signIn)) this.#seen(visit, routeId, signIn, opened, now);
    const { cookie } = opened;
    opened.cookie = undefined;
    const until = Math.min(opened.session.endsAt, opened.session.signedInAt + signIn.maximumSeconds);
    if (!signIn.upstreamToken) return { identity: opened.identity, cookie, until };
    const { token } = opened;
    if (token === undefined || now >= token.until) {
      opened.cookie = cookie;
      throw new OwnAnswer(() => this.#renewToken(visit, opened));
    }
    return { identity: [...opened.identity, 'Gatehouse-User-Token', token.text], cookie, until };
  }

  #open(visit: Pick<Visit, 'accountId' | 'edgeId' | 'headers' | 'host'>, signIn: SignIn): Opened | undefined {
    const value = readCookie(visit.headers, sessionCookieName(signIn));
    if (value === undefined || value === '') return undefined;
    const context = contextOf(visit, signIn);
    const known = this.#opened.get(value);
    if (known !== undefined) return known.context === context ? known : undefined;
    const text = this.#parts.keys.open(value, context);
    if (text === undefined) return undefined;
    const session = readSession(text);
    const opened = this.#keep(value, context, session);
    return opened;
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

  /** The error, or the way to the provider, for a visitor without a session. */
  #ask(visit: Visit, signIn: SignIn): Error {
    const url = `https://${visit.host}${signInPath}?to=${encodeURIComponent(shortTarget(visit.target))}`;
    if (!wantsPage(visit.headers))
      return new UserError(
        signInRequired,
        { url },
        { 'WWW-Authenticate': `Gatehouse-Sign-In url="${url}"`, 'Gatehouse-Sign-In': url },
      );
    if (visit.method === 'GET')
      return new OwnAnswer(() => this.#begin(visit, signIn, shortTarget(visit.target), undefined));
    return new OwnAnswer(async () =>
      this.#page(visit, {
        status: 401,
        title: `Sign in to ${visit.host}`,
        text: ['Your session is over, and what you have just sent was not passed on. Sign in, and send it again.'],
        links: [['Sign in', `${signInPath}?to=${encodeURIComponent(shortTarget(visit.target))}`]],
      }),
    );
  }

  /** `/.gatehouse/sign-in?to=…`: signs in for the route of another path of this host. */
  async #start(visit: Visit, url: URL, routes: SignInRoutes): Promise<Answer> {
    const to = safeTarget(url.searchParams.get('to') ?? '/');
    const signIn = routes.signInsAt(to)?.signIns[0];
    if (signIn === undefined) return redirect(to, []);
    return this.#begin(visit, signIn, to, url.searchParams.has('again') ? 'login' : undefined);
  }

  async #begin(visit: Visit, signIn: SignIn, to: string, prompt: string | undefined): Promise<Answer> {
    try {
      const { url, secrets } = await this.#provider(signIn.provider).begin(callbackUrl(visit), prompt);
      const login = JSON.stringify({ ...secrets, key: signIn.key, to, at: this.#now });
      const name = loginCookieName(secrets.state);
      const sealed = this.#parts.keys.seal(login, loginContext(visit));
      const stale = staleLogins(visit.headers).filter((each) => each !== name);
      return redirect(url, [...stale.map(clearCookie), setCookie(name, sealed, loginSeconds)]);
    } catch (error) {
      return this.#failed(visit, signIn, to, error);
    }
  }

  async #finish(visit: Visit, url: URL, routes: SignInRoutes): Promise<Answer> {
    const state = url.searchParams.get('state') ?? '';
    const name = loginCookieName(state);
    const login = this.#readLogin(visit, readCookie(visit.headers, name), state);
    const signIn = login && routes.signIns?.get(login.key);
    if (login === undefined || signIn === undefined)
      return this.#page(visit, {
        status: 400,
        title: 'This sign-in is over',
        text: [
          'It was begun in another browser, too long ago, or it was finished before. Nothing was changed. Begin anew from the page that you want to see.',
        ],
        links: [['To the start', '/']],
        headers: ['Set-Cookie', clearCookie(name)],
      });
    try {
      const { claims, token } = await this.#provider(signIn.provider).finish(
        `${callbackUrl(visit)}${url.search}`,
        login,
      );
      const route = routes.signInsAt(login.to);
      // The route that the visitor wants may have changed meanwhile; its rules are those that hold.
      const wanted = route?.signIns.find(({ key }) => key === signIn.key) ?? signIn;
      const visitor = identityFrom(claims, wanted);
      if (judgeVisitor(wanted.mayEnter, visitor) !== 'enters')
        return this.#refused(visit, wanted, visitor, login.to, false, [clearCookie(name)]);
      const now = this.#now;
      const session = {
        id: newId('as'),
        visitor,
        signedInAt: now,
        seenAt: now,
        endsAt: now + wanted.maximumSeconds,
        checkedAt: now,
        token: wanted.checkSeconds > 0 ? token : undefined,
      };
      const cookie = this.#seal(visit, wanted, session);
      this.#tell(visit, route?.routeId ?? '', wanted, session);
      return redirect(login.to, [clearCookie(name), this.#setSession(wanted, cookie)]);
    } catch (error) {
      return this.#failed(visit, signIn, login.to, error, [clearCookie(name)]);
    }
  }

  #readLogin(
    visit: Visit,
    cookie: string | undefined,
    state: string,
  ): (LoginSecrets & { key: string; to: string; at: number }) | undefined {
    const text = cookie === undefined ? undefined : this.#parts.keys.open(cookie, loginContext(visit));
    if (text === undefined) return undefined;
    // Only `#begin` seals for this context.
    const login = JSON.parse(text) as LoginSecrets & { key: string; to: string; at: number };
    const age = this.#now - login.at;
    return login.state === state && age <= loginSeconds && age >= -loginSeconds ? login : undefined;
  }

  async #signOut(visit: Visit, routes: SignInRoutes): Promise<Answer> {
    const site = headerValues(visit.headers, 'sec-fetch-site')[0];
    const origin = headerValues(visit.headers, 'origin')[0];
    const isOwn =
      visit.method === 'POST'
        ? origin === `https://${visit.host}` || site === 'same-origin'
        : site === 'same-origin' || site === 'none';
    if (!isOwn)
      return this.#page(visit, {
        status: 200,
        title: `Sign out of ${visit.host}?`,
        text: ['Your session here ends at once, in all windows of this browser.'],
        button: ['Sign out', signOutPath],
        links: [['Stay signed in', '/']],
      });
    const cookies: string[] = [];
    let provider: SignInProvider | undefined;
    for (const signIn of routes.signIns?.values() ?? []) {
      const opened = this.#open(visit, signIn);
      cookies.push(clearCookie(sessionCookieName(signIn)));
      if (opened === undefined) continue;
      ({ provider } = signIn);
      this.#end(visit, opened.session);
    }
    const elsewhere =
      provider &&
      (await this.#provider(provider)
        .signOutUrl()
        .catch(() => undefined));
    return this.#page(visit, {
      status: 200,
      title: `You are signed out of ${visit.host}`,
      text:
        provider === undefined
          ? []
          : [
              `You may still be signed in at *${plainText(hostOf(provider))}*, which then signs you in here again without asking.`,
            ],
      links: [
        ['Sign in again', `${signInPath}?to=%2F`],
        ...(elsewhere === undefined || provider === undefined
          ? []
          : [[`Sign out at ${hostOf(provider)}`, elsewhere] as const]),
      ],
      headers: cookies.flatMap((cookie) => ['Set-Cookie', cookie]),
    });
  }

  #end({ accountId }: Pick<Visit, 'accountId'>, { id, endsAt }: Session): void {
    this.#parts.keys.end(id);
    this.#parts.observer.visitorLeft({ id, accountId, endsAt });
  }

  /** Writes down that a session was used: its time without use begins anew. */
  #seen(visit: Visit, routeId: string, signIn: SignIn, opened: Opened, now: number): void {
    opened.session = { ...opened.session, seenAt: now };
    opened.cookie = this.#setSession(signIn, this.#seal(visit, signIn, opened.session));
    this.#tell(visit, routeId, signIn, opened.session);
  }

  #seal(visit: Visit, signIn: SignIn, session: Session): string {
    return this.#parts.keys.seal(writeSession(session), contextOf(visit, signIn));
  }

  #setSession(signIn: SignIn, cookie: string): string {
    return setCookie(sessionCookieName(signIn), cookie, signIn.maximumSeconds);
  }

  /** Asks the provider whether the login holds, once for all requests that wait for it. */
  async #check(visit: Visit, signIn: SignIn, opened: Opened): Promise<'again'> {
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
      const { claims, token } = await this.#provider(signIn.provider).check(session.visitor.subject, session.token);
      opened.session = { ...session, token, visitor: identityFrom(claims, signIn), checkedAt: this.#now };
      opened.identity = identityHeaders(opened.session.visitor);
      opened.token = undefined;
    } catch (error) {
      if (error instanceof LoginRefused) {
        this.#end(visit, session);
        return;
      }
      this.#logFault(signIn, error);
      // The session goes on; the provider is asked again in a minute.
      opened.session = { ...session, checkedAt: this.#now - signIn.checkSeconds + Math.min(60, signIn.checkSeconds) };
    }
    opened.cookie = this.#setSession(signIn, this.#seal(visit, signIn, opened.session));
  }

  async #renewToken(visit: Visit, opened: Opened): Promise<'again'> {
    const now = this.#now;
    const text = await signToken(this.#parts.keys, `https://${visit.host}`, opened.session.visitor, now, tokenSeconds);
    opened.token = { text, until: now + tokenSeconds / 2 };
    return 'again';
  }

  #refused(
    visit: Visit,
    signIn: SignIn,
    visitor: VisitorIdentity,
    to: string,
    hasSession: boolean,
    cookies: readonly string[] = [],
  ): Answer {
    const { mayEnter } = signIn;
    const who = visitor.email ?? visitor.name ?? visitor.subject;
    const unverified =
      mayEnter.emails.size + mayEnter.domains.size > 0 &&
      visitor.email !== undefined &&
      !visitor.emailVerified &&
      !mayEnter.unverifiedEmail;
    const why = unverified
      ? `but ${hostOf(signIn.provider)} does not say that this address was verified.`
      : `but not among those whom ${visit.host} lets in.`;
    return this.#page(visit, {
      status: 403,
      title: 'You are signed in, but may not enter',
      text: [`You are signed in as *${plainText(who)}*, ${plainText(why)}`],
      facts: [
        ...(mayEnter.groups.size === 0 ? [] : [['Your groups', visitor.groups.join(', ') || 'none'] as const]),
        ['Ask', 'the operators of this site, and name the request below'],
      ],
      links: [
        ['Sign in as somebody else', `${signInPath}?again&to=${encodeURIComponent(shortTarget(to))}`],
        ...(hasSession ? [['Sign out', signOutPath] as const] : []),
      ],
      headers: cookies.flatMap((cookie) => ['Set-Cookie', cookie]),
    });
  }

  #failed(visit: Visit, signIn: SignIn, to: string, error: unknown, cookies: readonly string[] = []): Answer {
    this.#logFault(signIn, error);
    const headers = cookies.flatMap((cookie) => ['Set-Cookie', cookie]);
    const again = `${signInPath}?to=${encodeURIComponent(to)}`;
    const provider = plainText(hostOf(signIn.provider));
    if (error instanceof ProviderDown)
      return this.#page(visit, {
        status: 503,
        title: 'Sign-in is not possible at the moment',
        text: [
          `*${provider}* does not answer. Whoever is signed in already goes on working; new sign-ins have to wait.`,
          `This page tries again in ${retrySeconds} seconds and then leads you to \`${plainText(to)}\`.`,
        ],
        links: [['Try now', again]],
        next: [retrySeconds, again],
        headers: ['Retry-After', String(retrySeconds), ...headers],
      });
    return this.#page(visit, {
      status: 403,
      title: 'You could not be signed in',
      text: [
        `*${provider}* has not confirmed the sign-in. Try again; if that does not help, ask the operators of this site and name the request below.`,
      ],
      links: [['Try again', again]],
      headers,
    });
  }

  #logFault({ provider }: SignIn, error: unknown): void {
    this.#parts.log.warn(
      { err: error, provider: provider.issuer, client_id: provider.clientId },
      'a visitor could not be signed in',
    );
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

  #provider(settings: SignInProvider): Provider {
    const key = JSON.stringify(settings);
    const known = this.#providers.get(key);
    if (known !== undefined) return known;
    const provider = new Provider(settings, this.#fetch);
    this.#providers.fill(this.#providers.ticket(), key, provider);
    return provider;
  }

  #page(visit: Visit, page: VisitorPage): Answer {
    return renderPage(page, visit.operationId());
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

function loginContext({ accountId, edgeId, host }: Visit): string {
  return `visitor login ${accountId} ${edgeId} ${host}`;
}

function callbackUrl({ host }: Visit): string {
  return `https://${host}${callbackPath}`;
}

function hostOf({ issuer }: SignInProvider): string {
  return URL.parse(issuer)?.host ?? issuer;
}

function redirect(to: string, cookies: readonly string[]): Answer {
  const headers = ['Location', to, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'];
  return { status: 302, headers: [...headers, ...cookies.flatMap((cookie) => ['Set-Cookie', cookie])], body: '' };
}

/** A browser shows what comes; anything else would take the page of a login for data. */
function wantsPage(headers: HeaderList): boolean {
  if (!/\btext\/html\b/i.test(headerValues(headers, 'accept').join())) return false;
  const [mode] = headerValues(headers, 'sec-fetch-mode');
  return (mode === undefined || mode === 'navigate') && headerValues(headers, 'sec-purpose').length === 0;
}

/** A path of this host and nothing else: browsers read "//" and "/\" as the start of another host. */
function safeTarget(to: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to) && !to.includes('\\') ? shortTarget(to) : '/';
}

function shortTarget(target: string): string {
  return target.length <= longestTarget ? target : '/';
}
