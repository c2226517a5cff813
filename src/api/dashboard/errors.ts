import { defineError } from '../../errors/user-error.ts';

export const dashboardHeaderMissing = defineError(
  20170,
  401,
  'The header "Gatehouse-Dashboard" with the secret of the session is missing, which only the page that has signed in knows: without it the cookie of a dashboard session counts for nothing. Sign in at /dashboard/, or call the API with "Authorization: Bearer <token>" and the token of an API key.',
);

export const noSession = defineError(
  20171,
  401,
  'The header "Gatehouse-Dashboard" was sent without the cookie of a dashboard session. Sign in at /dashboard/, or leave the header out and send "Authorization: Bearer <token>".',
);

export const sessionOver = defineError(
  20172,
  401,
  'This dashboard session is over: its cookie and the secret of the page are not of one session, it was signed out, its time is up (GATEHOUSE_DASHBOARD_SESSION_SECONDS, GATEHOUSE_DASHBOARD_IDLE_SECONDS), its API key was deleted or has a new token, an IP restriction has refused it, or its user has newer ones (GATEHOUSE_DASHBOARD_SESSIONS). Sign in again.',
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
  'The dashboard is not built, as after "npm ci --ignore-scripts". Run "npm run build:dashboard" on the host, in a clone with all its packages; the API works without it.',
);
