import { refusedByModule, signInRequired } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { AccessRules } from '../../modules/module.ts';
import { judgeVisitor } from '../../modules/sign-in.ts';
import type { SignIn } from '../../modules/sign-in.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';
import { methodPage, notFoundPage, notSentPage, refusedPage } from './answer-pages.ts';
import { Logins } from './logins.ts';
import { OwnAnswer } from './own-answer.ts';
import type { Answer } from './own-answer.ts';
import { Providers } from './providers.ts';
import { signOut } from './sign-out.ts';
import { publicKeys } from './upstream-token.ts';
import { callbackPath, keysPath, shortTarget, signInPath, signInUrl, signOutPath, wantsPage } from './visit.ts';
import type { SignInRoutes, Visit } from './visit.ts';
import type { VisitorKeys } from './visitor-keys.ts';
import { VisitorSessions } from './visitor-sessions.ts';

/** A visitor who may pass. */
export interface Admitted {
  /** Headers for the upstream. */
  readonly identity: readonly string[];
  /** A cookie that goes with the answer. */
  readonly cookie: string | undefined;
  /** When the session is over, in seconds since 1970. */
  readonly until: number | undefined;
}

interface VisitorsParts {
  readonly keys: VisitorKeys;
  readonly connect: ConnectUpstream;
  readonly observer: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  readonly log: GatewayLog;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

const anonymous: Admitted = { identity: [], cookie: undefined, until: undefined };

/** Knows visitors by their cookies, and signs in those who have none. */
export class Visitors {
  readonly #keys: VisitorKeys;
  readonly #providers: Providers;
  readonly #sessions: VisitorSessions;
  readonly #logins: Logins;

  constructor({ keys, connect, observer, log, clock = Date.now }: VisitorsParts) {
    const providers = new Providers(connect, log);
    const sessions = new VisitorSessions({ keys, providers, observer, clock });
    this.#keys = keys;
    this.#providers = providers;
    this.#sessions = sessions;
    this.#logins = new Logins({ keys, providers, sessions });
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
      const opened = this.#sessions.open(visit, signIn);
      if (opened === undefined || !this.#sessions.isOn(opened, signIn, false)) return false;
      return judgeVisitor(signIn.mayEnter, opened.session.visitor) === 'enters';
    });
  }

  /** The answer to a request for a path of the gateway's own. */
  async answer(visit: Visit, routes: SignInRoutes): Promise<Answer> {
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
          status: 200,
          headers: ['Content-Type', 'application/json', 'Cache-Control', 'public, max-age=300'],
          body: JSON.stringify(await publicKeys(this.#keys)),
        };
      default:
        return notFoundPage(visit);
    }
  }

  #admitBy(visit: Visit, routeId: string, signIn: SignIn, access: AccessRules): Admitted {
    if (signIn.optionsPassthrough && visit.method === 'OPTIONS') return anonymous;
    const inside = signIn.network !== undefined && access.allows(signIn.network.policyIds, visit.source);
    if (signIn.network?.rule === 'and_login' && !inside)
      throw new UserError(refusedByModule, { address: formatIp(visit.source) });
    const needsNoLogin = inside && signIn.network?.rule === 'or_login';
    const opened = this.#sessions.open(visit, signIn);
    if (opened === undefined || !this.#sessions.isOn(opened, signIn)) {
      if (needsNoLogin) return anonymous;
      throw this.#ask(visit, signIn);
    }
    if (this.#sessions.isCheckDue(opened, signIn))
      throw new OwnAnswer(() => this.#sessions.check(visit, signIn, opened));
    const verdict = judgeVisitor(signIn.mayEnter, opened.session.visitor);
    if (verdict !== 'enters') {
      if (needsNoLogin) return anonymous;
      if (verdict === 'unknown') throw this.#ask(visit, signIn);
      throw new OwnAnswer(async () => refusedPage(visit, signIn, opened.session.visitor, visit.target, true));
    }
    this.#sessions.use(visit, routeId, signIn, opened);
    const { cookie } = opened;
    opened.cookie = undefined;
    const until = Math.min(opened.session.endsAt, opened.session.signedInAt + signIn.maximumSeconds);
    if (!signIn.upstreamToken) return { identity: opened.identity, cookie, until };
    const { token } = opened;
    if (token === undefined || this.#sessions.now >= token.until) {
      opened.cookie = cookie;
      throw new OwnAnswer(() => this.#sessions.renewToken(visit, opened));
    }
    return { identity: [...opened.identity, 'Gatehouse-User-Token', token.text], cookie, until };
  }

  /** The error, or the way to the provider, for a visitor without a session. */
  #ask(visit: Visit, signIn: SignIn): Error {
    const url = `https://${visit.host}${signInUrl(visit.target)}`;
    if (!wantsPage(visit.headers))
      return new UserError(
        signInRequired,
        { url },
        { 'WWW-Authenticate': `Gatehouse-Sign-In url="${url}"`, 'Gatehouse-Sign-In': url },
      );
    if (visit.method === 'GET')
      return new OwnAnswer(() => this.#logins.begin(visit, signIn, shortTarget(visit.target), undefined));
    return new OwnAnswer(async () => notSentPage(visit));
  }
}
