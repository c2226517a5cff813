import { quote, UserError } from '../../../errors/user-error.ts';
import { isToken } from '../../../lib/http-syntax.ts';
import { invalidRequest, methodNotServed } from '../../errors.ts';
import { parseAuthority } from '../authority.ts';
import type { Authority } from '../authority.ts';
import type { Exchange } from '../exchange.ts';

export interface RequestTarget {
  readonly authority: Authority;
  /** Path and query, in origin-form; not checked yet. */
  readonly target: string;
}

const absoluteForm = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^]*)$/;

/** Methods that are answered with the request as the upstream got it; some upstreams do not compare the case. */
const reflecting = /^TRAC[EK]$/i;

/** Methods that need no look: nearly all requests have one of them. */
const usualMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Reads the host and the path of a request. Throws if two readers could read them differently. */
export function readTarget(exchange: Exchange): RequestTarget {
  const { method, host, fault } = exchange;
  if (fault !== undefined) throw fault;
  if (!usualMethods.has(method)) checkMethod(method);
  if (host === undefined) throw notAcceptable('it names no host');
  const authority = parseAuthority(host);
  if (authority === undefined) throw notAcceptable(`${quote(host)} is not a host name`);
  return { authority, target: originForm(exchange, authority) };
}

function checkMethod(method: string): void {
  if (reflecting.test(method)) throw new UserError(methodNotServed, { method: quote(method) });
  if (!isToken(method) || method === 'CONNECT') throw notAcceptable(`the method ${quote(method)} is not served here`);
}

function originForm({ target, client }: Exchange, authority: Authority): string {
  if (target.startsWith('/')) return target;
  const [, scheme, named, rest] = absoluteForm.exec(target) ?? [];
  const [own, usualPort] = client.servername === undefined ? (['http', 80] as const) : (['https', 443] as const);
  if (scheme?.toLowerCase() !== own || named === undefined) throw notAcceptable('its target is not a path');
  const other = parseAuthority(named);
  if (other?.name !== authority.name || (other.port ?? usualPort) !== (authority.port ?? usualPort)) {
    throw notAcceptable('its target and its Host header name different hosts');
  }
  return rest?.startsWith('/') === true ? rest : `/${rest ?? ''}`;
}

export function notAcceptable(reason: string): UserError {
  return new UserError(invalidRequest, { reason });
}
