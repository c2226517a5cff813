import { FairTurns } from '../../lib/fair-turns.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import { judgeVisitor } from '../../modules/sign-in.ts';
import type { SignIn } from '../../modules/sign-in.ts';
import type { LoginSecrets } from '../../sign-in/provider.ts';
import { failedPage, overPage, refusedPage } from './answer-pages.ts';
import { clearCookie, cookieValues, loginCookieName, loginSeconds, setCookie, staleLogins } from './cookies.ts';
import type { OwnAnswer } from '../../modules/step.ts';
import type { Providers } from './providers.ts';
import { identityFrom, nameOf } from './session.ts';
import { callbackUrl, redirect, safeTarget } from './visit.ts';
import type { SignInRoutes, Visit } from './visit.ts';
import type { VisitorKeys } from './visitor-keys.ts';
import type { VisitorSessions } from './visitor-sessions.ts';

/** Logins of one source that are finished at once: a login can be finished any number of times, until the provider has said no. */
const limits = { atOnce: Infinity, ofOwner: 8, waiting: 100 };

interface LoginsParts {
  readonly keys: VisitorKeys;
  readonly providers: Providers;
  readonly sessions: VisitorSessions;
}

/** A login that is under way, as its cookie holds it. */
interface BegunLogin extends LoginSecrets {
  readonly key: string;
  readonly to: string;
  readonly at: number;
}

/** Sends visitors to their provider, and takes them back. */
export class Logins {
  readonly #parts: LoginsParts;
  readonly #turns = new FairTurns(limits);

  constructor(parts: LoginsParts) {
    this.#parts = parts;
  }

  /** `/.gatehouse/sign-in?to=…`: signs in for the route of another path of this host. */
  async start(visit: Visit, url: URL, routes: SignInRoutes): Promise<OwnAnswer> {
    const to = safeTarget(url.searchParams.get('to') ?? '/');
    const signIn = routes.signInsAt(to)?.signIns[0];
    if (signIn === undefined) return redirect(to, []);
    return this.begin(visit, signIn, to, url.searchParams.has('again') ? 'login' : undefined);
  }

  async begin(visit: Visit, signIn: SignIn, to: string, prompt: string | undefined): Promise<OwnAnswer> {
    try {
      const { url, secrets } = await this.#parts.providers
        .get(visit.accountId, signIn.provider)
        .begin(callbackUrl(visit), prompt);
      const login = JSON.stringify({ ...secrets, key: signIn.key, to, at: this.#parts.sessions.now });
      const name = loginCookieName(secrets.state);
      const sealed = this.#parts.keys.seal(login, loginContext(visit));
      const stale = staleLogins(visit.headers).filter((each) => each !== name);
      const answer = redirect(url, [...stale.map(clearCookie), setCookie(name, sealed, loginSeconds)]);
      return { ...answer, login: 'begun' };
    } catch (error) {
      return this.#fail(visit, signIn, to, error);
    }
  }

  /** The provider has sent the visitor back. */
  async finish(visit: Visit, url: URL, routes: SignInRoutes): Promise<OwnAnswer> {
    const state = url.searchParams.get('state') ?? '';
    const name = loginCookieName(state);
    const login = this.#findLogin(visit, cookieValues(visit.headers, name), state);
    const signIn = login && routes.signIns?.get(login.key);
    if (login === undefined || signIn === undefined) return overPage(visit, name);
    try {
      const provider = this.#parts.providers.get(visit.accountId, signIn.provider);
      const found = await this.#turns.run(`${visit.accountId} ${sourceKey(visit.source)}`, () =>
        provider.finish(`${callbackUrl(visit)}${url.search}`, login),
      );
      // The route that the visitor wants may have changed meanwhile; its rules are those that hold.
      const { routeId, wanted, module } = wantedAt(routes, login.to, signIn);
      const visitor = identityFrom(found.claims, wanted);
      const person = nameOf(visitor);
      if (judgeVisitor(wanted.mayEnter, visitor) !== 'enters')
        return {
          ...refusedPage(visit, wanted, visitor, login.to, false, [clearCookie(name)]),
          login: 'back',
          person,
          module,
        };
      const cookie = await this.#parts.sessions.begin(visit, routeId, wanted, visitor, found);
      return { ...redirect(login.to, [clearCookie(name), cookie]), login: 'back', person };
    } catch (error) {
      const { module } = wantedAt(routes, login.to, signIn);
      return { ...this.#fail(visit, signIn, login.to, error, [clearCookie(name)]), login: 'back', module };
    }
  }

  /** The first login of this state that opens here and is not over. */
  #findLogin(visit: Visit, cookies: readonly string[], state: string): BegunLogin | undefined {
    for (const cookie of cookies) {
      const text = this.#parts.keys.open(cookie, loginContext(visit));
      if (text === undefined) continue;
      // Only `begin` seals for this context.
      const login = JSON.parse(text) as BegunLogin;
      const age = this.#parts.sessions.now - login.at;
      if (login.state === state && age <= loginSeconds && age >= -loginSeconds) return login;
    }
    return undefined;
  }

  #fail(visit: Visit, signIn: SignIn, to: string, error: unknown, cookies: readonly string[] = []): OwnAnswer {
    this.#parts.providers.logFault(signIn.provider, error);
    return failedPage(visit, signIn, to, error, cookies);
  }
}

/** A login as the route that the visitor wants has it now, and the module that asks for it. */
function wantedAt(routes: SignInRoutes, to: string, begun: SignIn) {
  const route = routes.signInsAt(to);
  const at = route?.signIns.findIndex(({ key }) => key === begun.key) ?? -1;
  return { routeId: route?.routeId ?? '', wanted: route?.signIns[at] ?? begun, module: route?.modules[at] };
}

function loginContext({ accountId, edgeId, host }: Visit): string {
  return `visitor login ${accountId} ${edgeId} ${host}`;
}
