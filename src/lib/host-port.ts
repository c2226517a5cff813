import { domainToASCII } from 'node:url';

import { formatIp, parseIp } from './ip/address.ts';

export type HostPort =
  | { readonly ok: true; readonly host: string; readonly port: number }
  | { readonly ok: false; readonly fault: 'form' | 'host' | 'port'; readonly reason: string };

/** Address that a server listens on. Port 0 lets the system choose one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface HostnameOptions {
  /** True if the first label may be `*`. */
  readonly wildcard: boolean;
  /** The port that is proposed to whoever left it out. */
  readonly usualPort?: number;
}

const label = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const hostnamePattern = new RegExp(`^(?:${label}\\.)*${label}$`);
/** An end that `inet_aton` and browsers read as a number, and so as (the end of) an IPv4 address. */
const numericEndPattern = /(?:^|\.)(?:[0-9]+|0[xX][0-9A-Fa-f]*)$/;
const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)/;
const schemePorts: Readonly<Record<string, number>> = { http: 80, https: 443, tls: 443 };
const portPattern = /^[1-9][0-9]{0,4}$/;

/**
 * Reads `name:port`, `1.2.3.4:port` or `[2001:db8::1]:port`. The host is returned in lower case or as canonical address
 * text, without brackets, ready to connect to.
 */
export function parseHostPort(text: string, options: HostnameOptions = { wildcard: false }): HostPort {
  const scheme = schemePattern.exec(text);
  if (scheme !== null) return refuse('form', schemeReason(scheme, options));
  const colon = text.lastIndexOf(':');
  const hostText = text.slice(0, Math.max(colon, 0));
  const bracketed = hostText.startsWith('[') && hostText.endsWith(']');
  if (colon < 0 || text.endsWith(']')) return refuse('form', portReason(text, options));
  if (!bracketed && hostText.includes(':'))
    return refuse('form', 'has more than one colon; write host:port, with an IPv6 address in brackets');
  const host = bracketed ? parseIpv6(hostText.slice(1, -1)) : parseHost(hostText, options);
  if (host === undefined) {
    return refuse(
      'host',
      bracketed ? 'has a host in brackets that is no IPv6 address' : hostReason(hostText, text.slice(colon), options),
    );
  }
  const port = portPattern.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0;
  if (port < 1 || port > 65535) return refuse('port', 'must end in a port between 1 and 65535');
  return { ok: true, host, port };
}

/**
 * The name in lower case, or undefined. A name whose end looks like a number is refused, because resolvers may read it
 * as an address. `*` stands for one label before at least two others: `*.com` would claim a whole registry.
 */
export function parseHostname(text: string, { wildcard }: HostnameOptions): string | undefined {
  if (text.length > 253) return undefined;
  const wild = wildcard && text.startsWith('*.');
  const plain = wild ? text.slice(2) : text;
  if (!hostnamePattern.test(plain) || numericEndPattern.test(plain)) return undefined;
  if (wild && !plain.includes('.')) return undefined;
  return text.toLowerCase();
}

function parseHost(text: string, options: HostnameOptions): string | undefined {
  const ip = parseIp(text);
  return ip === undefined ? parseHostname(text, options) : formatIp(ip);
}

/** Refuses zones: they name an interface of one machine and would be lost. */
function parseIpv6(text: string): string | undefined {
  if (!text.includes(':') || text.includes('%')) return undefined;
  const ip = parseIp(text);
  return ip && formatIp(ip);
}

/** Proposes the text without what a URL has more than a host and a port. */
function schemeReason([, scheme = '', rest = '']: RegExpExecArray, options: HostnameOptions): string {
  const withPort = `${rest}:${options.usualPort ?? schemePorts[scheme.toLowerCase()] ?? ''}`;
  const meant = [rest, withPort].find((each) => parseHostPort(each, options).ok);
  return `starts with "${scheme}://", which does not belong there; write ${meant ?? 'host:port'}`;
}

function portReason(text: string, options: HostnameOptions): string {
  const meant = `${text}:${options.usualPort ?? ''}`;
  return parseHostPort(meant, options).ok ? `has no port; did you mean "${meant}"?` : 'has no port; write host:port';
}

/** `port` begins with its colon. */
function hostReason(text: string, port: string, { wildcard }: HostnameOptions): string {
  if (text === '') return 'has no host before its port';
  if (text.includes('*')) {
    return wildcard
      ? 'may have one "*" only, as its whole first label before at least two others, such as *.example.com'
      : 'has a "*", which is not possible here';
  }
  const ascii = domainToASCII(text);
  const isForeign = /[^\x20-\x7e]/.test(text) && parseHostname(ascii, { wildcard: false }) !== undefined;
  return isForeign
    ? `has letters beyond ASCII; did you mean "${ascii}${port}", which is the same name?`
    : 'has a host that is no host name or IP address';
}

function refuse(fault: 'form' | 'host' | 'port', reason: string): HostPort {
  return { ok: false, fault, reason };
}
