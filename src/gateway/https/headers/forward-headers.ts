import { BoundedCache } from '../../../lib/bounded-cache.ts';
import { certificateFactNames } from './certificate-facts.ts';
import { identityPrefix } from '../../sign-in/identity-headers.ts';
import { keepPairs } from '../../../lib/header-list.ts';
import { foldName, hopByHopHeaders, listTokens } from '../../../lib/http-syntax.ts';
import type { HeaderGuard } from './header-guard.ts';
import { withoutSessionCookie, withoutSetSession } from './session-cookie.ts';

/** Facts that the gateway itself states about a request, in place of whatever the client stated. */
export interface Forwarding {
  /** Host header for the upstream. */
  readonly host: string;
  /** Scheme of the connection. */
  readonly scheme: 'http' | 'https';
  /** Address of the connection's peer. */
  readonly peer: string;
  /** True: the peer is a trusted proxy, whose own forwarding headers stay. */
  readonly peerTrusted: boolean;
  readonly guard: HeaderGuard | undefined;
}

/** Names that the gateway sets itself, or that are meant for one connection only. */
const ownedByConnection: ReadonlySet<string> = new Set([
  ...hopByHopHeaders,
  'host',
  'content-length',
  'expect',
  'http2-settings',
  // CGI programs would use its value as their own proxy ("httpoxy").
  'proxy',
]);

/**
 * Names by which a proxy or a content network tells upstreams where a request came from, who sent it and what it asked for.
 * Upstreams believe them. `docs/operating.md` has the same list.
 */
const forwardingClaims: ReadonlySet<string> = new Set([
  // The certificate of the client.
  ...certificateFactNames,
  'client-cert',
  'client-cert-chain',
  'x-arr-clientcert',
  'x-client-dn',
  'x-client-i-dn',
  'x-client-s-dn',
  'x-client-subjectdn',
  'x-client-verify',
  'x-clientcert',
  // The user whom a proxy has asked for a password or a login.
  'auth-user',
  'cf-access-jwt-assertion',
  'remote-email',
  'remote-groups',
  'remote-name',
  'remote-user',
  'x-anonymous-consumer',
  'x-remote-email',
  'x-remote-group',
  'x-remote-groups',
  'x-remote-name',
  'x-remote-user',
  // The address of the client.
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'client-ip',
  'cloudfront-viewer-address',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'forwarded-for',
  'proxy-client-ip',
  'remote-addr',
  'true-client-ip',
  'wl-proxy-client-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-forwarded',
  'x-original-forwarded-for',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  // The host and the path, which some frameworks route by in place of the real ones.
  'x-host',
  'x-http-host-override',
  'x-original-host',
  'x-original-uri',
  'x-original-url',
  'x-rewrite-url',
  // The method, by which upstreams may have rules of their own.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  // The proxies on the way.
  'via',
  // Whether the client used TLS.
  'cf-visitor',
  'front-end-https',
  'x-arr-ssl',
  'x-scheme',
  'x-url-scheme',
]);

/** Beginnings of further names of this kind. */
const claimPrefixes = [
  'x-forwarded-',
  'x-ssl-',
  'ssl-client-',
  'x-client-cert',
  'x-client-ssl-',
  'x-nginx-client-',
  'x-tls-client-',
  'x-amzn-mtls-',
  'cf-client-cert-',
  'cf-access-authenticated-user-',
  'oidc-claim-',
  'oidc-access-token',
  'oidc-id-token',
  'oidc-userinfo-',
  'tailscale-',
  'x-amzn-oidc-',
  'x-auth-request-',
  'x-authenticated-',
  'x-authentik-',
  'x-consumer-',
  'x-credential-',
  'x-goog-authenticated-user-',
  'x-goog-iap-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-pomerium-',
  'x-vouch-',
  'x-webauth-',
] as const;

const notInTrailers: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'location',
  'max-forwards',
  'pragma',
  'range',
  'set-cookie',
  'www-authenticate',
]);

/** True only of the bytes of the body as the upstream sent them. */
const ofExactBytes: ReadonlySet<string> = new Set(['content-digest', 'content-md5', 'digest', 'etag', 'repr-digest']);

/** The headers of a request: those that go upstream, before the route's own rules, and those by which it goes there. */
export interface SortedHeaders {
  readonly outgoing: readonly string[];
  readonly expect: string | undefined;
  readonly te: string | undefined;
}

/** Sorts the client's headers in one pass. */
export function sortHeaders(headers: readonly string[], facts: Forwarding): SortedHeaders {
  const { guard, peerTrusted } = facts;
  const list = ['Host', facts.host];
  let named: Set<string> | undefined;
  const told: Partial<Record<NameKind, string>> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    const kind = kindOf(name);
    const passes = kind === 'passed' || kind === 'cookie';
    if (passes || (kind === 'claim' && (peerTrusted || guard?.hasChecked(name) === true))) {
      if (guard?.removes(name) === true) continue;
      const kept = kind === 'cookie' ? withoutSessionCookie(value) : value;
      if (kept !== '' || value === '') list.push(name, kept);
    } else if (kind === 'connection') named = namedBy(value, named);
    else if (kind === 'x-forwarded-for') told[kind] = told[kind] === undefined ? value : `${told[kind]}, ${value}`;
    else if (kind === 'x-forwarded-proto' || kind === 'x-forwarded-host') told[kind] = value;
    else if (kind === 'expect' || kind === 'te') told[kind] ??= value;
  }
  // What tells where a request came from is read even if `Connection` names it: a client must not decide who it is.
  const kept =
    named === undefined ? list : keepPairs(list, (name) => name === 'Host' || !named.has(name.toLowerCase()));
  const trusted = peerTrusted ? told : {};
  const chain = trusted['x-forwarded-for'];
  kept.push('X-Forwarded-For', chain === undefined ? facts.peer : `${chain}, ${facts.peer}`);
  kept.push('X-Forwarded-Proto', trusted['x-forwarded-proto'] ?? facts.scheme);
  kept.push('X-Forwarded-Host', trusted['x-forwarded-host'] ?? facts.host);
  return { outgoing: kept, expect: told.expect, te: told.te };
}

/** Says which trailers of requests may go on. */
export type TrailerRules = Pick<HeaderGuard, 'allowsTrailer'>;

/** Returns the trailers that may follow a request upstream: some upstreams merge them into the headers. */
export function forwardTrailers(trailers: readonly string[], rules: TrailerRules): string[] {
  return keepPairs(
    trailers,
    (name) => mayTrail(name.toLowerCase()) && kindOf(name) === 'passed' && rules.allowsTrailer(name),
  );
}

/**
 * Trailers that may follow a response. `removed` are the names that the route's rules remove, in lower case. `isEncoded`: the
 * gateway has changed the bytes of the body.
 */
export function answerTrailers(trailers: readonly string[], removed: readonly string[], isEncoded: boolean): string[] {
  const folded = new Set(removed.map(foldName));
  return keepPairs(trailers, (name) => {
    const lower = name.toLowerCase();
    return mayTrail(lower) && !folded.has(foldName(lower)) && !(isEncoded && ofExactBytes.has(lower));
  });
}

/** The headers of an interim response that go on to the client: rules remove from them, but add to the final one only. */
export function interimHeaders(headers: readonly string[], removed: readonly string[]): readonly string[] {
  const passed = withoutSetSession(headers);
  const folded = new Set(removed.map(foldName));
  return removed.length === 0 ? passed : keepPairs(passed, (name) => !folded.has(foldName(name.toLowerCase())));
}

function mayTrail(lower: string): boolean {
  return !ownedByConnection.has(lower) && !notInTrailers.has(lower);
}

/** Names that the gateway itself goes by. The header goes no further as it is. */
const ownNames = ['connection', 'expect', 'te', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
/** `cookie`: passed on without the session of the dashboard. `claim`: passed on only if the peer is a trusted proxy. */
type NameKind = 'passed' | 'dropped' | 'cookie' | 'claim' | (typeof ownNames)[number];

/** Kinds by name as sent. Clients choose names freely; long ones are not worth the memory. */
const knownKinds = new BoundedCache<string, NameKind>(1_000);
const rememberedLength = 40;

function kindOf(name: string): NameKind {
  const known = knownKinds.get(name);
  if (known !== undefined) return known;
  const kind = classify(name.toLowerCase());
  if (name.length <= rememberedLength) knownKinds.set(name, kind);
  return kind;
}

/**
 * Names that the gateway sets itself, or that a client must not set, are dropped also when they are spelt with other
 * punctuation: to many upstreams `X_Forwarded_For` is `X-Forwarded-For`.
 */
function classify(lower: string): NameKind {
  const own = ownNames.find((name) => name === lower);
  if (own !== undefined) return own;
  if (lower === 'cookie') return 'cookie';
  if (ownedByConnection.has(lower)) return 'dropped';
  const folded = foldName(lower);
  if (folded !== lower && ownedByConnection.has(folded)) return 'dropped';
  // Upstreams believe them, also at routes without a login.
  if (folded.startsWith(identityPrefix)) return 'dropped';
  const isClaim = forwardingClaims.has(folded) || claimPrefixes.some((prefix) => folded.startsWith(prefix));
  if (!isClaim) return 'passed';
  return folded === lower ? 'claim' : 'dropped';
}

/**
 * The name of a header that was checked and that `Connection` has end here; undefined: none. A header that no client can send
 * to an upstream, such as those by which the gateway tells who somebody is, is hidden by nobody.
 */
export function hiddenByConnection(
  headers: readonly string[],
  checked: ReadonlySet<string> | 'all',
): string | undefined {
  const named = namedByConnection(headers);
  if (named === undefined) return undefined;
  const isHidden = (name: string, lower: string) =>
    named.has(lower) && (checked === 'all' || checked.has(lower)) && !neverSent.has(kindOf(name));
  return headers.find((name, at) => at % 2 === 0 && isHidden(name, name.toLowerCase()));
}

const neverSent: ReadonlySet<NameKind> = new Set(['dropped', 'connection', 'expect', 'te']);

/** Returns names in lower case; undefined if `Connection` names no header. */
function namedByConnection(headers: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2)
    if (kindOf(headers[at] ?? '') === 'connection') named = namedBy(headers[at + 1] ?? '', named);
  return named;
}

function namedBy(value: string, before: Set<string> | undefined): Set<string> | undefined {
  // Nearly all name one of these.
  if (value === 'keep-alive' || value === 'close') return before;
  let named = before;
  // Adds to the one before: copied for each of hundreds of headers, it would take time of their square.
  for (const option of listTokens(value))
    if (option !== 'keep-alive' && option !== 'close') (named ??= new Set()).add(option);
  return named;
}
