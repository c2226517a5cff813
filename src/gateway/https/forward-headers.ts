import { hopByHopHeaders, listTokens } from '../../lib/http-syntax.ts';
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
    const lower = name.toLowerCase();
    // Read before what `Connection` names is dropped: it must not decide who the client is.
    if (lower === 'x-forwarded-for') chain.push(value);
    else if (lower === 'x-forwarded-proto') proto = value;
    else if (lower === 'x-forwarded-host') host = value;
    else if (goesOn(lower, way) && named?.has(lower) !== true && way.guard?.removes(name) !== true)
      list.push(name, value);
  }
  const trusted = way.peerTrusted;
  list.push('X-Forwarded-For', trusted && chain.length > 0 ? `${chain.join(', ')}, ${way.peer}` : way.peer);
  list.push('X-Forwarded-Proto', (trusted ? proto : undefined) ?? 'https');
  list.push('X-Forwarded-Host', (trusted ? host : undefined) ?? way.host);
  return list;
}

/** Trailers that may follow a request upstream: some upstreams merge them into the headers. */
export function forwardTrailers(trailers: readonly string[], guard: HeaderGuard | undefined): string[] {
  const untrusted = { peerTrusted: false };
  return keepPairs(trailers, (name) => {
    const lower = name.toLowerCase();
    return mayTrail(lower) && goesOn(lower, untrusted) && guard?.allowsTrailer(name) !== false;
  });
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

/**
 * False for what the gateway sets itself or a client has no say in, also when it is spelt with other punctuation: to
 * many upstreams `X_Forwarded_For` is `X-Forwarded-For`.
 */
function goesOn(lower: string, { peerTrusted }: { readonly peerTrusted: boolean }): boolean {
  if (ownedByConnection.has(lower)) return false;
  const folded = unusualName.test(lower) ? foldName(lower) : lower;
  if (folded !== lower && ownedByConnection.has(folded)) return false;
  if (!forwardingClaims.has(folded) && !folded.startsWith('x-forwarded-')) return true;
  return peerTrusted && folded === lower;
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
