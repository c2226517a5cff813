import { signInRequired } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { judgeVisitor } from '../../modules/sign-in.ts';
import type { SignIn } from '../../modules/sign-in.ts';
import type { ConnectionServices, Outcome, OwnAnswer, RequestVisit } from '../../modules/step.ts';
import { noKeptLogins } from '../../sign-in/kept-logins.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import type { FetchFor } from '../../sign-in/guarded-fetch.ts';
import type { Signatures } from '../../sign-in/signatures.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import { methodPage, notFoundPage, notSentPage, refusedPage } from './answer-pages.ts';
import { Logins } from './logins.ts';
import { callbackPath, signInPath } from '../../modules/own-paths.ts';
import { Providers } from './providers.ts';
import { nameOf } from './session.ts';
import { signOut } from './sign-out.ts';
import { publicKeys } from './upstream-token.ts';
import { keysPath, shortTarget, signInUrl, signOutPath, wantsPage } from './visit.ts';
import type { SignInRoutes, Visit } from './visit.ts';
import type { VisitorKeys } from './visitor-keys.ts';
import { VisitorSessions } from './visitor-sessions.ts';

interface VisitorsParts {
  readonly keys: VisitorKeys;
  readonly fetchFor: FetchFor;
  readonly signatures: Signatures;
  /** Default: none, and no login is checked. */
  readonly logins?: KeptLogins | undefined;
  readonly observer: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  readonly log: GatewayLog;
  readonly secrets: ConnectionServices['secrets'];
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/** Knows visitors by their cookies, and signs in those who have none. */
export class Visitors {
  readonly #keys: VisitorKeys;
  readonly #providers: Providers;
  readonly #sessions: VisitorSessions;
  readonly #logins: Logins;

  constructor(parts: VisitorsParts) {
    const { keys, fetchFor, signatures, logins = noKeptLogins, observer, log, clock = Date.now } = parts;
    const { secrets } = parts;
    const providers = new Providers({ fetchFor, signatures, log, secrets });
    const sessions = new VisitorSessions({ keys, providers, logins, observer, clock });
    this.#keys = keys;
    this.#providers = providers;
    this.#sessions = sessions;
    this.#logins = new Logins({ keys, providers, sessions });
  }

  holds(visit: RequestVisit, signIn: SignIn): number {
    const opened = this.#sessions.open(visit, signIn);
    if (opened === undefined || !this.#sessions.isValid(opened, signIn, false)) return 0;
    const { visitor, endsAt, signedInAt } = opened.session;
    if (judgeVisitor(signIn.mayEnter, visitor) !== 'enters') return 0;
    return Math.min(endsAt, signedInAt + signIn.maximumSeconds) * 1000;
  }

  idToken(visit: RequestVisit, signIn: SignIn): string | undefined {
    // One that is too long, or was never there, is empty.
    return this.#sessions.open(visit, signIn)?.session.idToken || undefined;
  }

  /** The answer to a request for a path of the gateway's own. */
  async answer(visit: Visit, routes: SignInRoutes): Promise<OwnAnswer> {
    const url = new URL(visit.target, `https://${visit.host}`);
    const { method } = visit;
    if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && url.pathname === signOutPath))
      return methodPage(visit);
    switch (url.pathname) {
      case callbackPath:
        return this.#logins.finish(visit, url, routes);
      case signInPath:
        return this.#logins.start(visit, url, routes);
      case signOutPath:
        return signOut(visit, routes, { sessions: this.#sessions, providers: this.#providers });
      case keysPath:
        return {
          login: 'none',
          status: 200,
          headers: ['Content-Type', 'application/json', 'Cache-Control', 'public, max-age=300'],
          body: JSON.stringify(await publicKeys(this.#keys)),
        };
      default:
        return notFoundPage(visit);
    }
  }

  /** Leaves with the visit who it is. */
  admit(visit: RequestVisit, signIn: SignIn, isOptional: boolean): Outcome | undefined {
    const opened = this.#sessions.open(visit, signIn);
    if (opened === undefined || !this.#sessions.isValid(opened, signIn))
      return isOptional ? undefined : this.#ask(visit, signIn);
    if (this.#sessions.isCheckDue(opened, signIn))
      return { kind: 'wait', start: () => this.#sessions.check(visit, signIn, opened) };
    const { visitor, idToken } = opened.session;
    // Rules read the token since this session began.
    if (idToken === undefined && signIn.keepsIdToken?.() === true) return this.#ask(visit, signIn);
    visit.person = nameOf(visitor);
    const verdict = judgeVisitor(signIn.mayEnter, visitor);
    if (verdict !== 'enters') {
      if (isOptional) return undefined;
      if (verdict === 'unknown') return this.#ask(visit, signIn);
      return { kind: 'answer', answer: refusedPage(visit, signIn, visitor, visit.target, true), isChanged: false };
    }
    this.#sessions.use(visit, visit.ownerId, signIn, opened);
    const { token, identity } = opened;
    if (signIn.upstreamToken && (token === undefined || this.#sessions.now >= token.until))
      return { kind: 'wait', start: () => this.#sessions.renewToken(visit, opened) };
    if (opened.cookie !== undefined) visit.cookies = [...visit.cookies, opened.cookie];
    opened.cookie = undefined;
    // The upstream is told of the later login alone.
    visit.identity =
      signIn.upstreamToken && token !== undefined ? [...identity, 'Gatehouse-User-Token', token.text] : identity;
    return undefined;
  }

  /** The error, or the way to the provider, for a visitor without a session. */
  #ask(visit: Visit, signIn: SignIn): Outcome {
    const url = `https://${visit.host}${signInUrl(visit.target)}`;
    if (!wantsPage(visit.headers))
      return new UserError(
        signInRequired,
        { url },
        { 'WWW-Authenticate': `Gatehouse-Sign-In url="${url}"`, 'Gatehouse-Sign-In': url },
      );
    if (visit.method === 'GET')
      return { kind: 'wait', start: () => this.#logins.begin(visit, signIn, shortTarget(visit.target), undefined) };
    return { kind: 'answer', answer: notSentPage(visit), isChanged: false };
  }
}
