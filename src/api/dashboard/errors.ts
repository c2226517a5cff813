import { defineError } from '../../errors/user-error.ts';

export const dashboardHeaderMissing = defineError(
  20170,
  401,
  'The header "Gatehouse-Dashboard" is missing. It carries the secret of the session, which only the page that has signed in knows; the cookie alone does not count. Sign in at /dashboard/, or call the API with "Authorization: Bearer <token>" and the token of an API key.',
);

export const noSession = defineError(
  20171,
  401,
  'The header "Gatehouse-Dashboard" was sent without the cookie of a dashboard session. Sign in at /dashboard/, or leave the header out and send "Authorization: Bearer <token>".',
);

export const sessionOver = defineError(
  20172,
  401,
  'This dashboard session is over: its cookie and the secret of the page are not of one session, it was signed out, its time is up (GATEHOUSE_DASHBOARD_SESSION_SECONDS, GATEHOUSE_DASHBOARD_IDLE_SECONDS), its API key was deleted or has a new token, the identity provider no longer confirms its login, an IP restriction has refused it, or its user has newer ones (GATEHOUSE_DASHBOARD_SESSIONS). Sign in again.',
);

export const foreignOrigin = defineError(
  20173,
  403,
  'The request comes from a page of {origin}, which is not this server. Open the dashboard at its own address; behind a proxy that changes the Host header, GATEHOUSE_PUBLIC_URL must name the address that browsers see.',
);

export const twoCredentials = defineError(
  20174,
  401,
  'The request has a bearer token and the header "Gatehouse-Dashboard", so that it is not clear who calls. Send one of them.',
);

export const dashboardNotBuilt = defineError(
  20175,
  503,
  'The dashboard is not built, for example because of "npm ci --ignore-scripts". Run "npm run build:dashboard" on the host, in a clone with all its packages; the API works without it.',
);

export const tokenSignInOff = defineError(
  20365,
  403,
  'Nobody can sign in to the dashboard with a token here (GATEHOUSE_DASHBOARD_TOKEN_SIGN_IN is "off"). Sign in with {provider}. Tokens still work for the API, and the command line on the host needs none.',
);

export const noProvider = defineError(
  20354,
  403,
  'No identity provider is set up. Use a token, or set GATEHOUSE_OIDC_ISSUER and the settings that belong to it.',
);

export const signInElsewhere = defineError(
  20355,
  403,
  'The identity provider sends you back to {url}, so the sign-in must begin there too. Open that address.',
);

export const signInSourceRefused = defineError(
  20356,
  403,
  'You cannot sign in to the dashboard from {address}: an IP restriction refuses that address. Use a network that it allows, or ask an admin.',
);

export const signInOver = defineError(
  20357,
  400,
  'This sign-in is over: it began in another browser or tab, it began too long ago, or it was finished before. Nothing has changed. Sign in again.',
);

export const providerAway = defineError(
  20358,
  503,
  '{provider} does not answer, so nobody can sign in with it at the moment. Everybody who is already signed in can go on working. Try again in a moment.',
);

export const notConfirmed = defineError(
  20359,
  403,
  '{provider} has not confirmed the sign-in. Try again. If that does not help, ask the operator of this server: its log says why.',
);
