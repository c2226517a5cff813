import type { SignIn, VisitorIdentity } from '../../modules/sign-in.ts';
import { listOf, readPerson } from '../../sign-in/claims.ts';
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
  /** The token that the provider is asked with. */
  readonly token: ProviderToken | undefined;
}

/** A clock may be behind the one of the process that has made a cookie. */
const skewSeconds = 300;
/** Bytes of a session before it is sealed: with its name and attributes, a browser takes 4,096 for a cookie. */
const sessionBytes = 2600;
const tokenBytes = 1400;
const groupBytes = 1000;

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

/** The text that is sealed: the groups and tokens that are too long for a cookie are left out. */
export function writeSession(session: Session): string {
  const { id, visitor, signedInAt, seenAt, endsAt, checkedAt, token } = session;
  const kept = token !== undefined && Buffer.byteLength(token.value) <= tokenBytes ? token : undefined;
  const fields = { i: id, v: visitor, a: signedInAt, u: seenAt, x: endsAt, c: checkedAt };
  const text = JSON.stringify({ ...fields, t: kept });
  return Buffer.byteLength(text) <= sessionBytes ? text : JSON.stringify(fields);
}

export function readSession(text: string): Session {
  // Only `writeSession` makes texts that open.
  const { i, v, a, u, x, c, t } = JSON.parse(text) as {
    readonly i: string;
    readonly v: VisitorIdentity;
    readonly a: number;
    readonly u: number;
    readonly x: number;
    readonly c: number;
    readonly t?: Session['token'];
  };
  return { id: i, visitor: v, signedInAt: a, seenAt: u, endsAt: x, checkedAt: c, token: t };
}

/** What is kept of a login: small claims only, those first that rules name. */
export function identityFrom(
  claims: Readonly<Record<string, unknown>>,
  { provider, mayEnter }: SignIn,
): VisitorIdentity {
  const { groups, ...person } = readPerson(claims, provider.groupsClaim);
  const named = groups.filter((group) => mayEnter.groups.has(group));
  return {
    ...person,
    groups: fitting([...new Set([...named, ...groups])]),
    claims: Object.fromEntries(
      mayEnter.claims.map(([name, values]) => [
        name,
        listOf(claims[name])
          .filter((value) => values.has(value))
          .slice(0, 5),
      ]),
    ),
  };
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
