/** Somebody, as far as the claims of a provider say. */
export interface Person {
  /** Empty where the claims do not say who it is. */
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  readonly groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** Values of one claim that are looked at. */
const valueLimit = 10_000;
const longestValueBytes = 255;

/** Reads the claims that have a meaning. Those that are too long, or no text that can be stored, count as missing. */
export function readPerson(claims: Claims, groupsClaim: string): Person {
  const text = (value: unknown, limit: number) =>
    typeof value === 'string' && value !== '' && isText(value, limit) ? value : undefined;
  return {
    subject: text(claims['sub'], 255) ?? '',
    email: text(claims['email'], 254),
    emailVerified: claims['email_verified'] === true || claims['email_verified'] === 'true',
    name: text(claims['name'], 128) ?? text(claims['preferred_username'], 128),
    groups: listOf(claims[groupsClaim]),
  };
}

/**
 * Signed claims, and others beside them that are not signed. Whether an address is verified is said of the address that
 * stands beside it, and of no other.
 */
export function joinClaims(signed: Claims, others: Claims): Claims {
  const joined = { ...others, ...signed };
  const beside = signed['email'] === undefined ? others : signed;
  if (signed['email'] === others['email']) return joined;
  return { ...joined, email_verified: beside['email_verified'] };
}

/** The values of a claim, which may be one or a list. */
export function listOf(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value.slice(0, valueLimit) : value === undefined || value === null ? [] : [value];
  return list.flatMap((each: unknown) => {
    if (typeof each !== 'string' && typeof each !== 'number' && typeof each !== 'boolean') return [];
    const text = String(each);
    return isText(text, longestValueBytes) ? [text] : [];
  });
}

/** PostgreSQL refuses NUL in texts, and halves of surrogate pairs change when they are written as UTF-8. */
function isText(value: string, limitBytes: number): boolean {
  return value.isWellFormed() && !value.includes('\0') && Buffer.byteLength(value) <= limitBytes;
}
