import { formatHeaders } from '../../../lib/header-list.ts';
import { headersForUpstream } from '../headers-for-upstream.ts';
import type { RequestVisit } from '../request-visit.ts';

const takesTrailers = /(?:^|[,\s])trailers(?:$|[,\s;])/i;

/** Builds the request head for the upstream. Headers that frame the body or the connection come last, so that no rule changes them. */
export function buildRequestHead(visit: RequestVisit): string {
  const { exchange, upstreamTarget } = visit;
  return `${exchange.method} ${upstreamTarget} HTTP/1.1\r\n${formatHeaders(headersForUpstream(visit))}${framing(visit)}\r\n`;
}

function framing(visit: RequestVisit): string {
  const { exchange, changedBody, expectsContinue, sorted } = visit;
  const { upgrade } = exchange;
  const { te } = sorted;
  const body = changedBody ?? exchange.body;
  let text = '';
  if (body === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  else if (body !== 'none') text += `Content-Length: ${body.length}\r\n`;
  if (expectsContinue) text += 'Expect: 100-continue\r\n';
  if (upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  else if (te !== undefined && takesTrailers.test(te)) text += 'TE: trailers\r\nConnection: TE\r\n';
  return text;
}
