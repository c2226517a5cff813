import { UserError } from '../../../errors/user-error.ts';
import { unreadablePolicy } from '../errors.ts';

/** A policy in its older form, with directions in place of phases. */
export interface FormerPolicy {
  readonly inbound?: unknown;
  readonly outbound?: unknown;
}

/** The same policy by phases. Unknown keys stay, and are refused by their names when it is read. */
export function toPhases({ inbound, outbound, ...others }: FormerPolicy, isHttp: boolean): object {
  if ((isGiven(inbound) || isGiven(outbound)) && Object.keys(others).some((key) => key.startsWith('on_')))
    throw new UserError(unreadablePolicy, { reason: 'it has phases beside inbound or outbound; use phases alone' });
  return {
    ...others,
    ...(isGiven(inbound) && { [isHttp ? 'on_http_request' : 'on_tcp_connect']: inbound }),
    ...(isGiven(outbound) && { on_http_response: outbound }),
  };
}

function isGiven(rules: unknown): boolean {
  return rules !== undefined && rules !== null;
}

/** The error of a policy that was written in the older form: it names the places as they stand there. */
export function toFormerPaths({ code, status, message, headers }: UserError): UserError {
  const text = message
    .replace(/^line \d+, column \d+: /, '')
    .replaceAll(/\bon_(?:http_request|tcp_connect)\[/g, 'inbound[')
    .replaceAll('on_http_response[', 'outbound[');
  return new UserError({ code, status, message: '{text}' }, { text }, headers);
}
