import { otherReadings } from '../lib/request-path.ts';

/** Paths of the gateway's own, at endpoints where visitors sign in. */
export const ownPrefix = '/.gatehouse/';

/** Where visitors begin to sign in, and where their provider sends them back to. */
export const signInPath = `${ownPrefix}sign-in`;
export const callbackPath = `${signInPath}/callback`;

/** True also where an upstream could read the path as one of them. */
export function isOwnPath(matchPath: string): boolean {
  return (
    matchPath.startsWith(ownPrefix) || otherReadings(matchPath)?.some((each) => each.startsWith(ownPrefix)) === true
  );
}
