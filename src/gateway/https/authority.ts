import { BoundedCache } from '../../../lib/bounded-cache.ts';

/** Host and port as a client named them, in one spelling. */
export interface Authority {
  /** Lower case, without a trailing dot. */
  readonly name: string;
  readonly port: number | undefined;
}

const authorityForm = /^([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\.?(?::([1-9][0-9]{0,4}))?$/;
const nameLimit = 253;

/** Most requests name the same few. */
const known = new BoundedCache<string, Authority>(1_000);

/** DNS names only: clients send no server name for an address, and without one there is no certificate to show. */
export function parseAuthority(text: string): Authority | undefined {
  const remembered = known.get(text);
  if (remembered !== undefined) return remembered;
  const authority = readAuthority(text);
  if (authority !== undefined) known.fill(known.ticket(), text, authority);
  return authority;
}

function readAuthority(text: string): Authority | undefined {
  const match = authorityForm.exec(text);
  const name = match?.[1];
  if (name === undefined || name.length > nameLimit) return undefined;
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  return port !== undefined && port > 65_535 ? undefined : { name: name.toLowerCase(), port };
}

/** As it is sent upstream: the default port is left out, because some upstreams compare the text. */
export function formatAuthority({ name, port }: Authority): string {
  return port === undefined || port === 443 ? name : `${name}:${port}`;
}
