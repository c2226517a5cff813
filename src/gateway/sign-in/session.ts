import type { KeptClaim, SignIn, VisitorIdentity } from '../../modules/sign-in.ts';
import { listOf, readPerson } from '../../sign-in/claims.ts';
import { LoginRefused } from '../../sign-in/provider.ts';
import type { ProviderToken } from '../../sign-in/provider.ts';

/** A session as its cookie holds it. Times are in seconds since 1970. */
export interface Session {
  readonly id: string;
  readonly visitor: VisitorIdentity;
  readonly signedInAt: number;
  readonly seenAt: number;
  /** The latest end that the rules had when it began. */
  readonly endsAt: number;
  /** When the provider last said that the login holds. */
  readonly checkedAt: number;
  /** Cookies of older releases hold the token that the provider is asked with; since then it is kept in the database. */
  readonly formerToken: ProviderToken | undefined;
  /** The token that the provider has signed; empty: there is none, or it is too long. Undefined: it was not to be kept. */
  readonly idToken?: string | undefined;
}

/** A clock may be behind the one of the process that has made a cookie. */
const skewSeconds = 300;
const groupBytes = 1000;
const claimValues = 10;
const claimBytes = 200;
/** Longest text of a session that its cookie has room for. */
const sessionBytes = 2_800;

/** The reason why a session is over, or undefined. */
export function endOf(session: Session, signIn: SignIn, now: number, isIdleCounted = true): string | undefined {
  const { signedInAt, seenAt, endsAt } = session;
  if (signedInAt > now + skewSeconds || seenAt > now + skewSeconds) return 'it is of a time to come';
  if (now >= endsAt || now >= signedInAt + signIn.maximumSeconds) return 'it has lasted as long as it may';
  if (isIdleCounted && signIn.inactivitySeconds > 0 && now >= seenAt + signIn.inactivitySeconds)
    return 'it was not used for too long';
  return undefined;
}

/** When the session ends if it is not used again. */
export function expiryOf(
  { signedInAt, seenAt, endsAt }: Session,
  { maximumSeconds, inactivitySeconds }: SignIn,
): number {
  const latest = Math.min(endsAt, signedInAt + maximumSeconds);
  return inactivitySeconds === 0 ? latest : Math.min(latest, seenAt + inactivitySeconds);
}

/** The text that is sealed. With its name and attributes, a browser takes 4,096 bytes for a cookie. */
export function writeSession(session: Session): string {
  const { id, visitor, signedInAt, seenAt, endsAt, checkedAt, formerToken, idToken } = session;
  const fields = { i: id, v: visitor, a: signedInAt, u: seenAt, x: endsAt, c: checkedAt, t: formerToken, d: idToken };
  return JSON.stringify(fields);
}

/** The session with the token that the provider has signed, where both fit in a cookie. */
export function withIdToken(session: Session, idToken = ''): Session {
  const made = { ...session, idToken };
  return Buffer.byteLength(writeSession(made)) <= sessionBytes ? made : { ...session, idToken: '' };
}

export function readSession(text: string): Session {
  // Only `writeSession` makes texts that open.
  const { i, v, a, u, x, c, t, d } = JSON.parse(text) as {
    readonly i: string;
    readonly v: VisitorIdentity;
    readonly a: number;
    readonly u: number;
    readonly x: number;
    readonly c: number;
    readonly t?: ProviderToken;
    readonly d?: string;
  };
  return { id: i, visitor: v, signedInAt: a, seenAt: u, endsAt: x, checkedAt: c, formerToken: t, idToken: d };
}

/** A visitor as operators know them. */
export function nameOf({ email, subject }: VisitorIdentity): string {
  return email ?? subject;
}

/** Keeps the small claims of a login, those first that rules name. Throws where they do not say who it is. */
export function identityFrom(
  claims: Readonly<Record<string, unknown>>,
  { provider, mayEnter }: SignIn,
): VisitorIdentity {
  const { groups, ...person } = readPerson(claims, provider.groupsClaim);
  if (person.subject === '') throw new LoginRefused('the provider does not say who it is');
  const all = new Set([...groups.filter((group) => mayEnter.groups.has(group)), ...groups]);
  const kept = fitting([...all]);
  return {
    ...person,
    groups: kept,
    ...(kept.length < all.size && { hasMoreGroups: true }),
    claims: Object.fromEntries(
      mayEnter.claims.map(([name, values]) => [name, keptClaim(listOf(claims[name]), values)]),
    ),
  };
}

/** All values where they are few: other routes may have other rules. Else those that the rule names. */
function keptClaim(all: readonly string[], named: ReadonlySet<string>): KeptClaim {
  const isWhole = all.length <= claimValues && Buffer.byteLength(JSON.stringify(all)) <= claimBytes;
  return { values: isWhole ? all : all.filter((value) => named.has(value)).slice(0, 1), isWhole };
}

function fitting(groups: readonly string[]): readonly string[] {
  let left = groupBytes;
  return groups.filter((group) => {
    const size = Buffer.byteLength(JSON.stringify(group)) + 1;
    if (size > left) return false;
    left -= size;
    return true;
  });
}
