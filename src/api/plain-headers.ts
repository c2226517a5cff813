import { supportedVersion } from './version-header.ts';

/** What an ordinary GET says in its headers. */
export interface PlainHeaders {
  readonly host: string;
  readonly authorization: string;
}

/** Any of these makes a GET an unusual one: a body, an expectation, a proxy's word, or what only writes have. */
const unusual: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'if-match',
  'idempotency-key',
  'gatehouse-allow-lockout',
]);
const unusualLengths: ReadonlySet<number> = new Set(Array.from(unusual, (name) => name.length));

function isOneOf(keys: readonly string[], name: string): boolean {
  for (const key of keys) if (key.length === name.length && key === name.toLowerCase()) return true;
  return false;
}

/**
 * Reads the list of names and values that Node keeps of a request; undefined where something is missing, said twice, or
 * not ordinary. Far cheaper than the object that Node makes of it.
 */
export function readPlainHeaders(list: readonly string[], versionKeys: readonly string[]): PlainHeaders | undefined {
  let host: string | undefined;
  let authorization: string | undefined;
  let versions = 0;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    const { length } = name;
    if (length === 4 && name.toLowerCase() === 'host') {
      if (host !== undefined) return undefined;
      host = value;
    } else if (length === 13 && name.toLowerCase() === 'authorization') {
      if (authorization !== undefined) return undefined;
      authorization = value;
    } else if (isOneOf(versionKeys, name)) {
      if (value !== supportedVersion) return undefined;
      versions += 1;
    } else if (unusualLengths.has(length) && unusual.has(name.toLowerCase())) {
      return undefined;
    }
  }
  // HTTP lets a host be empty; the URIs of the answer are then made of the connection's own address.
  if (host === undefined || host === '' || authorization === undefined || versions !== 1) return undefined;
  return { host, authorization };
}
