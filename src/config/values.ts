import { isIP } from 'node:net';

import { databaseUrlFault, isSqlite } from '../lib/database-url.ts';
import { parseHostname, parseHostPort } from '../lib/host-port.ts';
import type { ListenAddress } from '../lib/host-port.ts';
import { CidrSet, emptyCidrSet } from '../lib/ip/cidr-set.ts';
import { parseTrustedProxies } from '../lib/ip/client-address.ts';

/** Readers of single settings. Each throws what is wrong, in words that follow the name and the value. */

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function readChoice<const Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw new Error(`give one of: ${choices.join(', ')}`);
    return choice;
  };
}

export function readList<const Choice extends string>(choices: readonly Choice[]): (text: string) => readonly Choice[] {
  const read = readChoice(choices);
  return (text) => text.split(',').flatMap((part) => (part.trim() === '' ? [] : [read(part.trim())]));
}

/** A fraction of the whole. */
export function readShare(text: string): number {
  const share = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(share >= 0 && share <= 1)) throw new Error('write a number from 0 to 1');
  return share;
}

/** Port 0 lets the system choose one. */
export function readListen(text: string): ListenAddress {
  const at = text.lastIndexOf(':');
  if (text.slice(at + 1) === '0' && at > 0) return { host: readHost(unbracket(text.slice(0, at))), port: 0 };
  return readReachable(text);
}

/** An address that others connect to. */
export function readReachable(text: string): ListenAddress {
  const parsed = parseHostPort(text);
  if (!parsed.ok) throw new Error(addressFault(text, parsed.reason));
  return { host: unbracket(parsed.host), port: parsed.port };
}

function addressFault(text: string, reason: string): string {
  if (/^\d+$/.test(text)) return `write it as host:port, such as 127.0.0.1:${text}`;
  if (/^:\d+$/.test(text)) return `it has no host: for all addresses of the machine write 0.0.0.0${text}`;
  if (!text.includes(':')) return `it has no port: write it as host:port, such as ${text}:4040`;
  return `write it as host:port: it ${reason}`;
}

export function readHost(text: string): string {
  if (isIP(text) === 0 && !/^[a-z0-9.-]+$/i.test(text)) throw new Error('write an IP address or a host name');
  return text;
}

export function optional<T>(read: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === '' ? undefined : read(text));
}

export function orOff<T>(read: (text: string) => T): (text: string) => T | undefined {
  return orWord('off', read);
}

/** Undefined: the program finds a value itself. */
export function orAuto<T>(read: (text: string) => T): (text: string) => T | undefined {
  return orWord('auto', read);
}

/** Number of workers. */
export function readWorkers(text: string): number | 'auto' | 'off' {
  if (text === 'auto' || text === 'off') return text;
  try {
    return readWholeNumber(1, 256)(text);
  } catch (error) {
    throw new Error('write "auto", "off" or a whole number from 1 to 256', { cause: error });
  }
}

export function readWholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new Error(`write a whole number from ${least} to ${most}`);
    return value;
  };
}

export function readPortRange(text: string): PortRange {
  const [, first = '', last = ''] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (first === '' || range.first < 1 || range.last > 65_535 || range.first > range.last) {
    throw new Error('write it as FIRST-LAST, with ports from 1 to 65535');
  }
  return range;
}

/** Printable, without spaces: it travels in a header. */
export function readSecretText(shortest: number): (text: string) => string {
  return (text) => {
    if (text.length < shortest) throw new Error(`it must have at least ${shortest} characters`);
    if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('use printable ASCII characters without spaces only');
    return text;
  };
}

/** A token that the operator chooses must not look like one that the service issues: it would be taken for that. */
export function readChosenToken(text: string): string {
  const token = readSecretText(32)(text);
  if (/^[0-9A-Za-z]{27}_[0-9A-Za-z]{43}$/.test(token)) {
    throw new Error(
      'it has the form of a token that Gatehouse issues itself; choose another, such as 64 hexadecimal digits',
    );
  }
  return token;
}

export function readWord(text: string): string {
  if (!/^[a-z][a-z0-9]*$/.test(text)) throw new Error('write a word of lower-case letters and digits');
  return text;
}

/** Without the slash at its end. */
export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error('write it as http://host or https://host');
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new Error('leave out query, fragment and user');
  }
  return text.replace(/\/+$/, '');
}

export function readDatabaseUrl(text: string): string {
  const fault = databaseUrlFault(text);
  if (fault !== undefined) throw new Error(fault);
  return text;
}

/** A PostgreSQL server, or `off`. */
export function readListenUrl(text: string): string {
  if (text === 'off') return text;
  if (isSqlite(text)) throw new Error('write it as postgres://user:password@host/database: SQLite needs none');
  return readDatabaseUrl(text);
}

/** Addresses and CIDRs, separated by commas. */
export function readAddresses(text: string): CidrSet {
  if (text === '') return new CidrSet(emptyCidrSet);
  const parsed = parseTrustedProxies(text);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.proxies;
}

function orWord<T>(word: string, read: (text: string) => T): (text: string) => T | undefined {
  return (text) => {
    if (text === word) return undefined;
    try {
      return read(text);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}, or "${word}"`, { cause: error });
    }
  };
}

function unbracket(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** Without a dot at its end, in lower case. */
/** In a list of names: `localhost` is not one of them. */
export const withoutLocalhost = '!localhost';

/** Host names, separated by commas; `*` may be the first label of one. */
export function readNames(text: string): readonly string[] {
  const names = text.split(',').map((part) => part.trim());
  return names
    .filter((name) => name !== '')
    .map((given) => {
      const name = given === withoutLocalhost ? given : parseHostname(given, { wildcard: true });
      if (name === undefined) throw new Error(`${JSON.stringify(given)} is not a host name: write gate.example.com`);
      return name;
    });
}

/** Host names, separated by commas; `*` may be the first label of one, and a port may stand behind it. */
export function readHosts(text: string): readonly string[] {
  const given = text.split(',').map((part) => part.trim());
  return given
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', port, ...more] = part.split(':');
      const host = more.length > 0 || part.includes('/') ? undefined : parseHostname(name, { wildcard: true });
      if (host === undefined)
        throw new Error(
          `${JSON.stringify(part)} is no host name, with a port behind it or without one: write api.example.com or api.example.com:8443`,
        );
      if (port === undefined) return host;
      if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
        throw new Error(
          `behind the colon of ${JSON.stringify(part)} stands no port from 1 to 65535: write ${host}:8443, or ${host} for 80 and 443`,
        );
      return `${host}:${port}`;
    });
}

export function readDomain(text: string): string {
  const domain = parseHostname(text, { wildcard: false });
  if (domain === undefined) throw new Error('write a host name, such as agents.example.com');
  return domain;
}
