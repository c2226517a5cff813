import { formatAuthority } from '../authority.ts';
import type { Exchange } from '../exchange.ts';
import { withCertificateFacts } from '../headers/certificate-facts.ts';
import { forwardHeaders } from '../headers/forward-headers.ts';
import { formatHeaders } from '../headers/header-list.ts';
import { withIdentity } from '../../sign-in/identity-headers.ts';
import type { RequestTarget } from '../routing/request-target.ts';
import type { Route } from '../routing/route-table.ts';

export interface HeadOptions {
  readonly expectsContinue: boolean;
  /** The client understands trailers. */
  readonly trailers: boolean;
  /** Headers that say who the visitor is; undefined where nobody signs in. */
  readonly identity: readonly string[] | undefined;
}

/** Builds the request head for the upstream. Headers that frame the body or the connection come last, so that no rule changes them. */
export function buildRequestHead(
  exchange: Exchange,
  { authority, target }: RequestTarget,
  route: Route,
  options: HeadOptions,
): string {
  const { peerText, peerTrusted, servername } = exchange.client;
  const forwarded = forwardHeaders(exchange.headers, {
    host: formatAuthority(authority),
    scheme: servername === undefined ? 'http' : 'https',
    peer: peerText,
    peerTrusted,
    guard: route.guard,
  });
  const rewritten = route.pipeline.rewriteRequest?.(forwarded) ?? forwarded;
  const { certificate } = exchange.client;
  // Last, in place of any that a proxy or a rule has put there.
  const certified =
    route.pipeline.clientCa === undefined || certificate === undefined
      ? rewritten
      : withCertificateFacts(rewritten, certificate.facts);
  const { identity } = options;
  const headers = identity === undefined ? certified : withIdentity(certified, identity);
  const sent = route.pipeline.rewriteTarget?.(target) ?? target;
  return `${exchange.method} ${sent} HTTP/1.1\r\n${formatHeaders(headers)}${framing(exchange, options)}\r\n`;
}

function framing({ body, upgrade }: Exchange, { expectsContinue, trailers }: HeadOptions): string {
  let text = '';
  if (body === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  else if (body !== 'none') text += `Content-Length: ${body.length}\r\n`;
  if (expectsContinue) text += 'Expect: 100-continue\r\n';
  if (upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  else if (trailers) text += 'TE: trailers\r\nConnection: TE\r\n';
  return text;
}
