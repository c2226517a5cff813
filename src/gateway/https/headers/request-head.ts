import type { Exchange } from '../client/exchange.ts';
import { formatAuthority } from '../routing/authority.ts';
import type { RequestTarget } from '../routing/request-target.ts';
import type { Route } from '../routing/route-table.ts';
import { formatHeaders, forwardHeaders } from './forward-headers.ts';

export interface HeadWishes {
  readonly expectsContinue: boolean;
  /** The client understands trailers. */
  readonly trailers: boolean;
}

/** The request head as it goes upstream. What frames the body and the connection comes last, out of the rules' reach. */
export function buildRequestHead(
  exchange: Exchange,
  { authority, target }: RequestTarget,
  route: Route,
  wishes: HeadWishes,
): string {
  const { peerText, peerTrusted } = exchange.client;
  const forwarded = forwardHeaders(exchange.headers, {
    host: formatAuthority(authority),
    peer: peerText,
    peerTrusted,
    guard: route.guard,
  });
  const headers = route.pipeline.rewriteRequest?.(forwarded) ?? forwarded;
  return `${exchange.method} ${target} HTTP/1.1\r\n${formatHeaders(headers)}${framing(exchange, wishes)}\r\n`;
}

function framing({ body, upgrade }: Exchange, { expectsContinue, trailers }: HeadWishes): string {
  let text = '';
  if (body === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  else if (body !== 'none') text += `Content-Length: ${body.length}\r\n`;
  if (expectsContinue) text += 'Expect: 100-continue\r\n';
  if (upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  else if (trailers) text += 'TE: trailers\r\nConnection: TE\r\n';
  return text;
}
