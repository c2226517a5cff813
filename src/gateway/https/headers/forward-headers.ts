import { BoundedCache } from '../../../lib/bounded-cache.ts';
import { hopByHopHeaders, listTokens } from '../../../lib/http-syntax.ts';
import { foldName } from './header-guard.ts';
import type { HeaderGuard } from './header-guard.ts';

/** What the gateway itself says about a request, to be put in place of whatever the client said. */
export interface Forwarding {
  /** As the upstream shall see it. */
  readonly host: string;
  /** The peer of the connection. */
  readonly peer: string;
  /** True: the peer is a trusted proxy, whose own forwarding headers stay. */
  readonly peerTrusted: boolean;
  readonly guard: HeaderGuard | undefined;
}

/** Set by the gateway for this connection, or meant for it alone. */
const ownedByConnection: ReadonlySet<string> = new Set([
  ...hopByHopHeaders,
  'host',
  'content-length',
  'expect',
  'http2-settings',
  // CGI programs would take it for the proxy they shall use ("httpoxy").
  'proxy',
]);

/**
 * Claims about the way a request came, which upstreams believe of a proxy: the address, and the path that some
 * frameworks route by in place of the real one.
 */
const forwardingClaims: ReadonlySet<string> = new Set([
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
]);

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

const unusualName = /[^a-z0-9-]/;

/** The client's headers as they go upstream, before the route's own rules. */
export function forwardHeaders(headers: readonly string[], way: Forwarding): string[] {
  const list = ['Host', way.host];
  const named = namedByConnection(headers);
  const chain: string[] = [];
  let proto: string | undefined;
  let host: string | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    const kind = kindOf(name);
    // Read before what `Connection` names is dropped: it must not decide who the client is.
    if (kind === 'x-forwarded-for') chain.push(value);
    else if (kind === 'x-forwarded-proto') proto = value;
    else if (kind === 'x-forwarded-host') host = value;
    else if (kind === 'dropped' || (kind === 'claim' && !way.peerTrusted)) continue;
    else if (named?.has(name.toLowerCase()) !== true && way.guard?.removes(name) !== true) list.push(name, value);
  }
  const trusted = way.peerTrusted;
  list.push('X-Forwarded-For', trusted && chain.length > 0 ? `${chain.join(', ')}, ${way.peer}` : way.peer);
  list.push('X-Forwarded-Proto', (trusted ? proto : undefined) ?? 'https');
  list.push('X-Forwarded-Host', (trusted ? host : undefined) ?? way.host);
  return list;
}

/** Trailers that may follow a request upstream: some upstreams merge them into the headers. */
export function forwardTrailers(trailers: readonly string[], guard: HeaderGuard | undefined): string[] {
  return keepPairs(
    trailers,
    (name) => mayTrail(name.toLowerCase()) && kindOf(name) === 'passed' && guard?.allowsTrailer(name) !== false,
  );
}

export function answerTrailers(trailers: readonly string[]): string[] {
  return keepPairs(trailers, (name) => mayTrail(name.toLowerCase()));
}

export function formatHeaders(list: readonly string[]): string {
  let text = '';
  for (let at = 0; at < list.length; at += 2) text += `${list[at]}: ${list[at + 1]}\r\n`;
  return text;
}

function mayTrail(lower: string): boolean {
  return !ownedByConnection.has(lower) && !notInTrailers.has(lower);
}

/** `claim`: goes on if a trusted proxy makes it. */
type NameKind = 'passed' | 'dropped' | 'claim' | (typeof forwardedNames)[number];

const forwardedNames = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const;
/** By the name as sent. Clients choose names freely; long ones are not worth the memory. */
const knownKinds = new BoundedCache<string, NameKind>(1_000);
const rememberedLength = 40;

function kindOf(name: string): NameKind {
  const known = knownKinds.get(name);
  if (known !== undefined) return known;
  const kind = classify(name.toLowerCase());
  if (name.length <= rememberedLength) knownKinds.fill(knownKinds.ticket(), name, kind);
  return kind;
}

/**
 * What the gateway sets itself, or a client has no say in, is dropped also when it is spelt with other punctuation: to
 * many upstreams `X_Forwarded_For` is `X-Forwarded-For`.
 */
function classify(lower: string): NameKind {
  const forwarded = forwardedNames.find((name) => name === lower);
  if (forwarded !== undefined) return forwarded;
  if (ownedByConnection.has(lower)) return 'dropped';
  const folded = unusualName.test(lower) ? foldName(lower) : lower;
  if (folded !== lower && ownedByConnection.has(folded)) return 'dropped';
  if (!forwardingClaims.has(folded) && !folded.startsWith('x-forwarded-')) return 'passed';
  return folded === lower ? 'claim' : 'dropped';
}

/** Lower case; undefined when `Connection` names no header. */
function namedByConnection(headers: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    for (const option of listTokens(headers[at + 1] ?? '')) {
      if (option !== 'keep-alive' && option !== 'close') (named ??= new Set()).add(option);
    }
  }
  return named;
}

function keepPairs(list: readonly string[], keeps: (name: string) => boolean): string[] {
  return list.filter((_, at) => keeps(list[at - (at % 2)] ?? ''));
}
