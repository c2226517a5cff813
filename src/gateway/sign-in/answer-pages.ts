import { loginFailed, providerUnavailable, signInRequired, visitorRefused } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { TooMuchWaits } from '../../lib/fair-turns.ts';
import { plainText, renderPage } from './pages.ts';
import type { OwnAnswer } from '../../modules/step.ts';
import type { SignIn, VisitorIdentity } from '../../modules/sign-in.ts';
import { ProviderDown } from '../../sign-in/provider.ts';
import { clearCookie } from './cookies.ts';
import { hostOf, signInUrl, signOutPath } from './visit.ts';
import type { Visit } from './visit.ts';

const retrySeconds = 10;

export function methodPage(visit: Visit): OwnAnswer {
  return renderPage(visit, {
    status: 405,
    title: 'Not here',
    text: ['This address takes no such request.'],
    headers: ['Allow', 'GET, HEAD'],
  });
}

export function notFoundPage(visit: Visit): OwnAnswer {
  return renderPage(visit, {
    status: 404,
    title: 'There is no such page',
    text: ['Addresses that begin with `/.gatehouse/` belong to the sign-in.'],
    links: [['To the start', '/']],
  });
}

/** For a form that was sent without a session. */
export function notSentPage(visit: Visit): OwnAnswer {
  const page = renderPage(visit, {
    status: 401,
    title: `Sign in to ${visit.host}`,
    text: ['Your session is over, and the form that you have just sent was not passed on. Sign in, and send it again.'],
    links: [['Sign in', signInUrl(visit.target)]],
  });
  return { ...page, refusal: new UserError(signInRequired, { url: signInUrl(visit.target) }) };
}

/** For an answer of the provider that belongs to no login of this browser. */
export function overPage(visit: Visit, loginCookie: string): OwnAnswer {
  return renderPage(visit, {
    status: 400,
    title: 'This sign-in is over',
    text: [
      'It began in another browser or too long ago, or it was finished before. Nothing has changed. Open the page that you want to see once more.',
    ],
    links: [['To the start', '/']],
    cookies: [clearCookie(loginCookie)],
  });
}

/** For somebody whom the rules of the route do not let in. */
export function refusedPage(
  visit: Visit,
  signIn: SignIn,
  visitor: VisitorIdentity,
  to: string,
  hasSession: boolean,
  cookies: readonly string[] = [],
): OwnAnswer {
  const { mayEnter } = signIn;
  const who = visitor.email ?? visitor.name ?? visitor.subject;
  const unverified =
    mayEnter.emails.size + mayEnter.domains.size > 0 &&
    visitor.email !== undefined &&
    !visitor.emailVerified &&
    !mayEnter.unverifiedEmail;
  const why = unverified
    ? `but ${hostOf(signIn.provider)} does not say that this address was verified.`
    : `but you are not among those whom ${visit.host} lets in.`;
  const page = renderPage(visit, {
    status: 403,
    title: 'You are signed in, but may not enter',
    text: [`You are signed in as *${plainText(who)}*, ${plainText(why)}`],
    facts: [
      ...(mayEnter.groups.size === 0 ? [] : [['Your groups', visitor.groups.join(', ') || 'none'] as const]),
      ['Ask', 'the operators of this site, and name the request below'],
    ],
    links: [
      ['Sign in as somebody else', signInUrl(to, 'again&')],
      ...(hasSession ? [['Sign out', signOutPath] as const] : []),
    ],
    cookies,
  });
  return { ...page, refusal: new UserError(visitorRefused, { who: quote(who) }) };
}

/** For a login that the provider did not confirm, or could not. */
export function failedPage(
  visit: Visit,
  signIn: SignIn,
  to: string,
  error: unknown,
  cookies: readonly string[],
): OwnAnswer {
  const again = signInUrl(to);
  const provider = plainText(hostOf(signIn.provider));
  if (error instanceof ProviderDown || error instanceof TooMuchWaits) {
    const page = renderPage(visit, {
      status: 503,
      title: 'Sign-in is not possible at the moment',
      text: [
        `*${provider}* does not answer. Everybody who is already signed in can go on working; new sign-ins have to wait.`,
        `This page tries again in ${retrySeconds} seconds and then leads you to \`${plainText(to)}\`.`,
      ],
      links: [['Try now', again]],
      next: [retrySeconds, again],
      headers: ['Retry-After', String(retrySeconds)],
      cookies,
    });
    return { ...page, refusal: new UserError(providerUnavailable, { provider: hostOf(signIn.provider) }) };
  }
  const page = renderPage(visit, {
    status: 403,
    title: 'You could not be signed in',
    text: [
      `*${provider}* has not confirmed the sign-in. Try again; if that does not help, ask the operators of this site and name the request below.`,
    ],
    links: [['Try again', again]],
    cookies,
  });
  return { ...page, refusal: new UserError(loginFailed, { provider: hostOf(signIn.provider) }) };
}
