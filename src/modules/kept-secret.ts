import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import type { ModuleSecrets, Settings } from './module.ts';

/** A secret that is kept to be used: encrypted at rest, and compared by its digest. */
export interface KeptSecret {
  readonly salt: string;
  /** SHA-256 over the salt and the secret, base64. */
  readonly digest: string;
  /** As it was given: only until it is stored. */
  readonly given?: string;
  /** As it is stored. */
  readonly sealed?: string;
}

/** Settings with a secret. Undefined: the stored one is to stay. A text: open, as the gateway gets it. */
export type HasSecret<Field extends string> = Settings & { readonly [Each in Field]?: KeptSecret | string | undefined };

interface SecretOptions<Field extends string, Stored> {
  readonly field: Field;
  /** Kind of the secret, a part of the context that it is sealed for; never to be changed. */
  readonly purpose: string;
  /** True where both settings have the same owner of the secret: nobody else must get it. */
  readonly isSameOwner: (one: Stored, other: Stored) => boolean;
  /** The error where none is given, and none is stored that could stay. */
  readonly missing: (settings: Stored) => Error;
}

type SecretChanges<Stored> = Required<Pick<ModuleSecrets<never, Stored>, 'keep' | 'seal' | 'open'>>;

export function newSecret(given: string): KeptSecret {
  const salt = randomBytes(16).toString('base64');
  return { salt, digest: digestOf(salt, given).toString('base64'), given };
}

/** True where nothing is given, since then the stored one stays, and where the stored one is given. */
export function isKept(given: string | undefined, stored: KeptSecret | string | undefined): boolean {
  if (given === undefined) return true;
  if (typeof stored !== 'object') return false;
  return timingSafeEqual(digestOf(stored.salt, given), Buffer.from(stored.digest, 'base64'));
}

function digestOf(salt: string, secret: string): Buffer {
  return createHash('sha256').update(`${salt}:${secret}`).digest();
}

/** How a secret of a module is kept from one write to the next, sealed for the database and opened for the gateway. */
export function keptSecret<Field extends string, Stored extends HasSecret<Field>>({
  field,
  purpose,
  isSameOwner,
  missing,
}: SecretOptions<Field, Stored>): SecretChanges<Stored> {
  const contextOf = ({ digest }: KeptSecret): string => `${purpose} ${digest}`;
  return {
    keep(settings, previous) {
      if (settings[field] !== undefined) return settings;
      if (previous?.[field] === undefined || !isSameOwner(settings, previous)) throw missing(settings);
      return { ...settings, [field]: previous[field] };
    },
    seal(settings, seal) {
      const secret = settings[field];
      if (typeof secret !== 'object' || secret.given === undefined) return settings;
      const { salt, digest, given } = secret;
      return { ...settings, [field]: { salt, digest, sealed: seal(given, contextOf(secret)) } };
    },
    open(settings, open) {
      const secret = settings[field];
      if (typeof secret !== 'object' || secret.sealed === undefined) return settings;
      return { ...settings, [field]: open(secret.sealed, contextOf(secret)) };
    },
  };
}
