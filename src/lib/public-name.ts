import { isIP } from 'node:net';

/** Names under these never lead anywhere in public (RFC 2606, 6761, 6762, 7686, 8375, and what networks at home use). */
const privateEnds = [
  'localhost',
  'local',
  'test',
  'example',
  'invalid',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'localdomain',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'alt',
  'example.com',
  'example.net',
  'example.org',
];

/** The reason why no public authority issues a certificate for the host name; undefined if one may. `*.` may precede it. */
export function whyNotPublic(hostname: string): string | undefined {
  const name = hostname.replace(/^\*\./, '').replace(/\.$/, '').toLowerCase();
  if (isIP(name) !== 0) return 'it is an IP address';
  if (!name.includes('.')) return 'it has one label only';
  if (!/^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(name)) {
    return 'it is not a name that the public DNS can have';
  }
  if (/\.\d+$/.test(name)) return 'it ends like an IP address';
  const end = privateEnds.find((each) => name === each || name.endsWith(`.${each}`));
  return end === undefined ? undefined : `names under .${end} are not public`;
}
