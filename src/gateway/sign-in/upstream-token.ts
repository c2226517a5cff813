import type { JWK } from 'jose';

import type { VisitorIdentity } from '../../modules/sign-in.ts';
import type { VisitorKeys } from './visitor-keys.ts';

/** Loaded by the first token: most installations need none. */
const load = () => import('jose');

/** A signed statement of who the visitor is, for the upstream of this host. */
export async function signToken(
  keys: VisitorKeys,
  host: string,
  { subject, email, emailVerified, name, groups }: VisitorIdentity,
  now: number,
  lifeSeconds: number,
): Promise<string> {
  const [newest] = keys.signingKeys;
  if (newest === undefined) throw new Error('there is no key for tokens yet');
  const { importJWK, SignJWT } = await load();
  // Stored by this program.
  const key = await importJWK(JSON.parse(newest.privateJwk) as JWK, 'ES256');
  return new SignJWT({
    email,
    email_verified: email === undefined ? undefined : emailVerified,
    name,
    groups: [...groups],
  })
    .setProtectedHeader({ alg: 'ES256', kid: String(newest.number), typ: 'JWT' })
    .setSubject(subject)
    .setIssuer(host)
    .setAudience(host)
    .setIssuedAt(now)
    .setExpirationTime(now + lifeSeconds)
    .sign(key);
}

/** The keys that tokens can be checked with. */
export async function publicKeys(keys: VisitorKeys): Promise<{ readonly keys: readonly JWK[] }> {
  return {
    keys: keys.signingKeys.map(({ number, privateJwk }) => {
      const { kty, crv, x, y } = JSON.parse(privateJwk) as JWK;
      return { kty, crv, x, y, kid: String(number), alg: 'ES256', use: 'sig' } as JWK;
    }),
  };
}
