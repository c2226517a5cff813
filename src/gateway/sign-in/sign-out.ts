import { headerValues } from '../../lib/header-list.ts';
import type { SignInProvider } from '../../modules/sign-in.ts';
import { clearCookie, sessionCookieName } from './cookies.ts';
import type { OwnAnswer } from '../../modules/step.ts';
import { plainText, renderPage } from './pages.ts';
import type { Providers } from './providers.ts';
import { hostOf, signInUrl, signOutPath } from './visit.ts';
import type { SignInRoutes, Visit } from './visit.ts';
import type { VisitorSessions } from './visitor-sessions.ts';

interface SignOutParts {
  readonly sessions: VisitorSessions;
  readonly providers: Providers;
}

/** Ends the sessions of a browser at an edge. A page of another site only gets a question shown. */
export async function signOut(
  visit: Visit,
  routes: SignInRoutes,
  { sessions, providers }: SignOutParts,
): Promise<OwnAnswer> {
  const site = headerValues(visit.headers, 'sec-fetch-site')[0];
  const origin = headerValues(visit.headers, 'origin')[0];
  const isOwn =
    visit.method === 'POST'
      ? origin === `https://${visit.host}` || site === 'same-origin'
      : site === 'same-origin' || site === 'none';
  if (!isOwn)
    return renderPage(visit, {
      status: 200,
      title: `Sign out of ${visit.host}?`,
      text: ['Your session here ends at once, in all windows of this browser.'],
      button: ['Sign out', signOutPath],
      links: [['Stay signed in', '/']],
    });
  const cookies: string[] = [];
  let provider: SignInProvider | undefined;
  for (const signIn of routes.signIns?.values() ?? []) {
    const opened = sessions.open(visit, signIn);
    cookies.push(clearCookie(sessionCookieName(signIn)));
    if (opened === undefined) continue;
    ({ provider } = signIn);
    // One that is over already is not ended again: the cookie may come any number of times.
    if (sessions.isValid(opened, signIn)) await sessions.end(visit, signIn, opened.session);
  }
  const elsewhere = provider && (await addressAt(providers, visit.accountId, provider));
  return renderPage(visit, {
    status: 200,
    title: `You are signed out of ${visit.host}`,
    text:
      provider === undefined
        ? []
        : [
            `You may still be signed in at *${plainText(hostOf(provider))}*, which then signs you in here again without asking.`,
          ],
    links: [
      ['Sign in again', signInUrl('/')],
      ...(elsewhere === undefined || provider === undefined
        ? []
        : [[`Sign out at ${hostOf(provider)}`, elsewhere] as const]),
    ],
    cookies,
  });
}

/** Where the visitor can sign out at the provider too, as far as that is known. */
async function addressAt(
  providers: Providers,
  accountId: string,
  provider: SignInProvider,
): Promise<string | undefined> {
  try {
    return await providers.get(accountId, provider).signOutUrl();
  } catch {
    return undefined;
  }
}
