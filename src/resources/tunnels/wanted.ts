import type { BindRequest } from '../../agents/wire/bind.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostname } from '../../lib/host-port.ts';
import type { ResourceSettings } from '../resource.ts';
import { invalidAgentName } from './errors.ts';
import { checkUrlParts } from './url-parts.ts';

/** Endpoint that an agent asks for; undefined leaves the choice to the server. */
export interface WantedAddress {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

const addressPattern = /^(?:([a-z]+):\/\/)?([^/:]*)(?::([0-9]{1,5}))?\/?$/i;
const nothing: WantedAddress = { host: undefined, port: undefined };

/** The host name of an HTTP or TLS endpoint. A port may be named only if it is the one that HTTPS is served on. */
export function readWantedName({ wanted, proto }: BindRequest, settings: ResourceSettings): string | undefined {
  const { url, domain, subdomain } = wanted;
  const asked = url || domain || (subdomain === '' ? '' : `${subdomain}.${settings.agentDomain}`);
  const isTls = proto === 'tls';
  const { host, port } = readAddress(asked, isTls ? ['tls'] : ['http', 'https']);
  if (host === undefined) return undefined;
  const usual = proto === 'http' ? 80 : 443;
  const own = ((proto === 'http' ? settings.httpUrlPort : undefined) ?? settings.httpsUrlPort)(host.toLowerCase());
  if (port !== undefined && port !== usual && port !== own)
    throw refuse(asked, `${isTls ? 'TLS' : 'HTTP'} endpoints have the port ${own}`);
  const name = parseHostname(host, { wildcard: true });
  if (name === undefined) throw refuse(asked, 'it is no host name');
  return name;
}

/** The address of a TCP endpoint. */
export function readWantedPort({ wanted: { url, addr } }: BindRequest): WantedAddress {
  const asked = url || addr;
  const { host, port } = readAddress(asked, ['tcp']);
  if (host === undefined && port === undefined) return nothing;
  if (port === undefined || port < 1 || port > 65_535)
    throw refuse(asked, 'a TCP address has the form host:port, with a port from 1 to 65535');
  return { host: host?.toLowerCase(), port };
}

function readAddress(asked: string, schemes: readonly string[]): WantedAddress {
  if (asked === '') return nothing;
  checkUrlParts(asked);
  const [matched, scheme = schemes[0], host = '', port] = addressPattern.exec(asked) ?? [];
  if (matched === undefined) throw refuse(asked, 'it is neither a host name nor a URL');
  if (!schemes.includes(scheme?.toLowerCase() ?? '')) throw refuse(asked, `its scheme is not ${schemes.join(' or ')}`);
  return { host: host === '' ? undefined : host, port: port === undefined ? undefined : Number(port) };
}

function refuse(asked: string, reason: string): UserError {
  return new UserError(invalidAgentName, { asked: quote(asked), reason });
}
