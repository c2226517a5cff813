import type { UserError } from '../../errors/user-error.ts';
import { escapeHtml } from '../../lib/escape-html.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Builds the same body as the API's errors, or a small page for clients that prefer HTML. */
export function errorAnswer(error: UserError, operationId: string, accept: string, prefix: string): ErrorAnswer {
  const code = `${prefix}_${error.code}`;
  const asHtml = quality(accept, 'text/html') > quality(accept, 'application/json');
  const body = Buffer.from(asHtml ? page(error, code, operationId) : json(error, code, operationId));
  const headers = [
    'Content-Type',
    asHtml ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'Cache-Control',
    'no-store',
    'Gatehouse-Error-Code',
    code,
    'Gatehouse-Operation-Id',
    operationId,
    'X-Content-Type-Options',
    'nosniff',
  ];
  const vendor = vendorOf(prefix);
  if (vendor !== undefined) headers.push(`${vendor}-error-code`, code, `${vendor}-operation-id`, operationId);
  if (asHtml) headers.push('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
  return { status: error.status, headers, body };
}

/** The vendor whose words the error codes carry, in lower case; undefined for our own. */
function vendorOf(prefix: string): string | undefined {
  const vendor = prefix.replace(/^ERR_/, '').toLowerCase();
  return vendor === 'gatehouse' ? undefined : vendor;
}

function json(error: UserError, code: string, operationId: string): string {
  return JSON.stringify({
    error_code: code,
    status_code: error.status,
    msg: error.message,
    details: { operation_id: operationId },
  });
}

function page(error: UserError, code: string, operationId: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${error.status}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:4em auto;padding:0 1em}small{color:#666}</style>
<h1>${error.status}</h1>
<p>${escapeHtml(error.message)}</p>
<p><small>${escapeHtml(code)} · ${operationId}</small></p>
</html>
`;
}

/** Returns the weight that an `Accept` header gives to exactly this type. */
function quality(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}
