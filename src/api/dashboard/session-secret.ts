import type { IncomingMessage } from 'node:http';

import { refused } from '../admission/bearer.ts';
import type { UriOptions } from '../http/uris.ts';
import { noSession, twoCredentials } from './errors.ts';
import { checkOwnPage, isOverTls } from './own-page.ts';
import { sessionCookie } from './session-cookie.ts';

const bearer = /^bearer\b/i;

/** The secret of the session that a request of the dashboard's own pages has. Throws for any other request. */
export function sessionSecret(request: IncomingMessage, options: UriOptions): string {
  checkOwnPage(request, options);
  const { headers } = request;
  // Other schemes are for a proxy in front.
  if (bearer.test(headers.authorization ?? '')) throw refused(twoCredentials);
  const secret = sessionCookie(headers, isOverTls(request, options));
  if (secret === undefined) throw refused(noSession);
  return secret;
}
