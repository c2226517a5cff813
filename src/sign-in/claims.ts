/** Somebody, as far as the claims of a provider say. */
export interface Person {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  readonly groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** Claims that are too long, or no texts, count as missing. */
export function readPerson(claims: Claims, groupsClaim: string): Person {
  const text = (value: unknown, limit: number) =>
    typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= limit ? value : undefined;
  return {
    subject: text(claims['sub'], 255) ?? '',
    email: text(claims['email'], 254),
    emailVerified: claims['email_verified'] === true || claims['email_verified'] === 'true',
    name: text(claims['name'], 128) ?? text(claims['preferred_username'], 128),
    groups: listOf(claims[groupsClaim]),
  };
}

/** The values of a claim, which may be one or a list. */
export function listOf(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return list.flatMap((each: unknown) =>
    typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean' ? [String(each)] : [],
  );
}
