import type { IncomingMessage } from 'node:http';

import { quote, UserError } from '../../errors/user-error.ts';
import { isSecret } from '../../lib/secrets.ts';
import { baseUrl } from '../http/uris.ts';
import type { UriOptions } from '../http/uris.ts';
import { foreignOrigin } from './errors.ts';

/** The value of the header before the sign-in, and where a browser has lost the secret. */
const noSecret = '1';

/** True for a request that claims to come from the dashboard's own pages: other pages cannot set a header of ours. */
export function isFromDashboard(request: IncomingMessage): boolean {
  return request.headers['gatehouse-dashboard'] === noSecret || pageSecret(request) !== undefined;
}

/** The secret of the session that the page keeps, in storage that pages of other origins, also of other ports, cannot read. */
export function pageSecret({ headers }: IncomingMessage): string | undefined {
  const value = headers['gatehouse-dashboard'];
  return typeof value === 'string' && isSecret(value) ? value : undefined;
}

/** Throws for a request from a page of another site, where the browser says so. */
export function checkOwnPage(request: IncomingMessage, options: UriOptions): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && !isOwnOrigin(origin, request, options)) {
    throw new UserError(foreignOrigin, { origin: quote(origin) });
  }
  if (origin === undefined && site !== undefined && site !== 'same-origin') {
    throw new UserError(foreignOrigin, { origin: `another site (Sec-Fetch-Site: ${quote(site)})` });
  }
}

/** True if the browser reaches the server over TLS, as far as that can be known. */
export function isOverTls(request: IncomingMessage, options: UriOptions): boolean {
  const { origin } = request.headers;
  const isKnown = origin !== undefined && isOwnOrigin(origin, request, options);
  return (isKnown ? origin : addressedOrigin(request, options)).startsWith('https:');
}

function isOwnOrigin(origin: string, request: IncomingMessage, options: UriOptions): boolean {
  const addressed = addressedOrigin(request, options);
  if (origin === addressed || origin === originOf(options.publicUrl)) return true;
  // A proxy in front may say nothing of the TLS that it ends.
  return addressed.startsWith('http:') && origin === originOf(addressed.replace('http:', 'https:'));
}

/** The origin that the request itself was sent to. `public_url` need not be the only address of the server. */
function addressedOrigin(request: IncomingMessage, { publicUrl, trustedProxies }: UriOptions): string {
  const { host } = request.headers;
  if (publicUrl !== undefined && new URL(publicUrl).host === host) return originOf(publicUrl);
  return originOf(baseUrl(request, { publicUrl: undefined, trustedProxies }));
}

/** Without the port that the scheme has by itself, and in lower case, as browsers write it. */
function originOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : '';
}
