import type { IncomingMessage } from 'node:http';

import { refused } from '../admission/bearer.ts';
import type { SessionCredential } from '../admission/caller.ts';
import type { UriOptions } from '../http/uris.ts';
import { dashboardHeaderMissing, noSession, twoCredentials } from './errors.ts';
import { checkOwnPage, isOverTls, pageSecret } from './own-page.ts';
import { sessionCookies } from './session-cookie.ts';

const bearer = /^bearer\b/i;

/** The two secrets that a request of the dashboard's own pages has. Throws for any other request, and for one alone. */
export function sessionCredential(request: IncomingMessage, options: UriOptions): SessionCredential {
  checkOwnPage(request, options);
  const { headers } = request;
  // Other schemes are for a proxy in front.
  if (bearer.test(headers.authorization ?? '')) throw refused(twoCredentials);
  const cookies = sessionCookies(headers, isOverTls(request, options));
  if (cookies.length === 0) throw refused(noSession);
  const secret = pageSecret(request);
  if (secret === undefined) throw refused(dashboardHeaderMissing);
  return { secret, cookies };
}
