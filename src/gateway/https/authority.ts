import { BoundedCache } from '../../lib/bounded-cache.ts';

/** Host and port that a client named, normalised. */
export interface Authority {
  /** Lower case, without a trailing dot. */
  readonly name: string;
  readonly port: number | undefined;
  /** Name and port as text; without the default port, because some upstreams compare the text. */
  readonly host: string;
}

const authorityForm = /^([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\.?(?::([1-9][0-9]{0,4}))?$/;
const nameLimit = 253;

/** Most requests name the same few hosts. */
const cache = new BoundedCache<string, Authority>(1_000);

/** Accepts DNS names only: clients send no server name for an address, and without one there is no certificate to show. */
export function parseAuthority(text: string): Authority | undefined {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const authority = readAuthority(text);
  if (authority !== undefined) cache.set(text, authority);
  return authority;
}

function readAuthority(text: string): Authority | undefined {
  const match = authorityForm.exec(text);
  const name = match?.[1];
  if (name === undefined || name.length > nameLimit) return undefined;
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  if (port !== undefined && port > 65_535) return undefined;
  const lower = name.toLowerCase();
  return { name: lower, port, host: port === undefined || port === 443 ? lower : `${lower}:${port}` };
}
