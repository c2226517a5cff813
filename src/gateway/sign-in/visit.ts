import { headerValues } from '../../lib/header-list.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { callbackPath, ownPrefix, signInPath } from '../../modules/own-paths.ts';
import type { SignIn, SignInProvider } from '../../modules/sign-in.ts';
import type { HeaderList, OwnAnswer } from '../../modules/step.ts';
import { setCookies } from './cookies.ts';

export const signOutPath = `${ownPrefix}sign-out`;
export const keysPath = `${ownPrefix}jwks.json`;

const longestTarget = 1_500;

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
  /** Id of the request, for pages. */
  readonly operationId: () => string;
}

interface RouteSignIns {
  readonly routeId: string;
  readonly signIns: readonly SignIn[];
  /** The module that asks for each of them. */
  readonly modules: readonly (string | undefined)[];
}

/** The routes of an edge, as far as logins depend on them. */
export interface SignInRoutes {
  readonly signIns: ReadonlyMap<string, SignIn> | undefined;
  /** The logins of the route that a path leads to; undefined where it leads to none. */
  signInsAt(target: string): RouteSignIns | undefined;
}

export function callbackUrl({ host }: Visit): string {
  return `https://${host}${callbackPath}`;
}

/** The address that signs in and then leads to a path of this host. */
export function signInUrl(to: string, again = ''): string {
  return `${signInPath}?${again}to=${encodeURIComponent(shortTarget(to))}`;
}

export function hostOf({ issuer }: SignInProvider): string {
  return URL.parse(issuer)?.host ?? issuer;
}

export function redirect(to: string, cookies: readonly string[]): OwnAnswer {
  const headers = ['Location', to, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'];
  return { login: 'none', status: 302, headers: [...headers, ...setCookies(cookies)], body: '' };
}

/** A browser shows what comes; anything else would take the page of a login for data. */
export function wantsPage(headers: HeaderList): boolean {
  if (!/\btext\/html\b/i.test(headerValues(headers, 'accept').join())) return false;
  const [mode] = headerValues(headers, 'sec-fetch-mode');
  return (mode === undefined || mode === 'navigate') && headerValues(headers, 'sec-purpose').length === 0;
}

/** A path of this host and nothing else: browsers read "//" and "/\" as the start of another host. */
export function safeTarget(to: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to) && !to.includes('\\') ? shortTarget(to) : '/';
}

export function shortTarget(target: string): string {
  return target.length <= longestTarget ? target : '/';
}
