import { requestNotPossible } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { isInternalName } from '../../../lib/endpoint-url.ts';
import { mayAskServer } from '../../request-hosts.ts';
import type { Template } from '../document/template.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

export const longestUrl = 16_384;

const wholeAuthority = /^https?:\/\/[^/?#]*[/?#]/i;
const separator = /^[/?#]/;
/** More than any host name with a scheme and a port has. */
const longestAuthority = 300;

/** Why a text is no URL that can be asked, whatever the operator has named. */
export function urlFault(text: string): string | undefined {
  const url = text.length > longestUrl ? null : URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'it must be a whole URL with http or https';
  if (url.username !== '' || url.password !== '') return 'a name and a password stand in a header, not in it';
  if (url.hostname.includes('*')) return 'it names one host, without "*"';
  return undefined;
}

/** The error of a request that cannot be made of the values which a visit has. */
export function notPossible(reason: string): UserError {
  return new UserError(requestNotPossible, { reason });
}

/** Whether a URL leads to an internal endpoint, or to a server that the operator has named. */
export function isAskable(url: URL): boolean {
  return isInternalName(url.hostname) || mayAskServer(url);
}

/** The beginning of a URL up to its path, where no value can be part of the host; undefined: the host is not known. */
export function writtenHost({ constant, literals }: Template): string | undefined {
  if (constant !== undefined) return constant;
  const [first, , next] = literals;
  if (first === undefined) return undefined;
  if (/^[^:/?#]+:\/\/[^/?#]*[/?#]/.test(first)) return first;
  const [, authority = ''] = /^[^:/?#]+:\/\/([^/?#]*)$/.exec(first) ?? [];
  if (!/[.:]/.test(authority) || /[.:-]$/.test(authority)) return undefined;
  // A value whose host goes on behind it is part of the host.
  return next === undefined || separator.test(next) ? first : undefined;
}

/** Fills in the values. None leads to another host or path: a host that can be asked ends before a value. */
export function fillUrl(address: Template, visit: PolicyVisit): string {
  const pieces = address.pieces(visit);
  if (pieces.length === 1) return pieces[0]?.text ?? '';
  const written = writtenHost(address);
  const last = pieces.findLastIndex(({ text: own }) => own !== '');
  let [text, isInHost, isBehindHost, hasQuery] = ['', true, false, false];
  for (const [at, { text: own, isValue }] of pieces.entries()) {
    if (isInHost && text.length > longestAuthority) throw notPossible('the host of the URL is too long');
    if (isValue && isInHost && at > 0 && pieces[at - 1]?.isValue === false)
      isBehindHost ||= text === written || endsHost(text);
    if (!isFit(own, { isValue, isInHost, isBehindHost, isInPath: at < last && !hasQuery }))
      throw notPossible('a value in the URL would lead elsewhere');
    text += own;
    isInHost &&= !wholeAuthority.test(text);
    hasQuery ||= own.includes('?');
  }
  return text;
}

interface PieceFacts {
  readonly isValue: boolean;
  /** Nothing before it ends the host. */
  readonly isInHost: boolean;
  readonly isBehindHost: boolean;
  /** More of the path comes behind it. */
  readonly isInPath: boolean;
}

function isFit(own: string, { isValue, isInHost, isBehindHost, isInPath }: PieceFacts): boolean {
  if (isInHost && isBehindHost && own !== '' && !separator.test(own)) return false;
  if (!isValue) return true;
  if (isInHost && !isBehindHost) return /^[A-Za-z0-9.-]*$/.test(own);
  return !leadsElsewhere(own) && !(isInPath && own.includes('?'));
}

/** Whether a text is the beginning of a URL whose host is whole. */
function endsHost(text: string): boolean {
  const url = text.endsWith(':') ? null : URL.parse(text);
  return url !== null && isAskable(url);
}

function leadsElsewhere(value: string): boolean {
  return /[#\\\0- ]/.test(value) || /(?:^|\/)(?:\.|%2e){1,2}(?:[/?]|$)/i.test(value);
}
