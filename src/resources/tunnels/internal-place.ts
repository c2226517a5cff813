import type { BindRequest } from '../../agents/wire/bind.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { formatEndpointUrl, isInternalName, readEndpointUrl } from '../../lib/endpoint-url.ts';
import type { EndpointUrl } from '../../lib/endpoint-url.ts';
import { refuseByAcl } from './choice.ts';
import type { Choice, Place } from './choice.ts';
import * as errors from './errors.ts';
import { checkUrlParts } from './url-parts.ts';

/** Most labels of an internal name before its end. */
const mostLabels = 5;

/** The place of an internal endpoint. Undefined: the agent asks for a public one. Throws if it may not have it. */
export function internalPlace({ claimant, request }: Choice): Place | undefined {
  const wanted = wantedUrl(request);
  if (!isInternal(request, wanted)) return undefined;
  const { scheme, hostname, port } = readWanted(request, wanted);
  const { acl, accountId } = claimant.credential;
  const isAllowed = scheme === 'tcp' ? acl.allowsAddress(hostname, port) : acl.allowsName(hostname);
  const url = formatEndpointUrl({ scheme, hostname, port });
  if (!isAllowed) throw refuseByAcl(claimant, url);
  const kind = scheme === 'https' ? 'http' : scheme;
  return { kind, key: `internal ${accountId} ${url}`, url, hostname: null, port: null, labels: null, internal: url };
}

/** Whether an endpoint is reached by no listener: its binding says so, or its name where it has none. */
export function isInternal({ binding }: Pick<BindRequest, 'binding'>, wanted: string): boolean {
  const host = /^[^]*?:\/\/([^/:]*)/.exec(wanted)?.[1]?.toLowerCase() ?? '';
  if (binding === 'public' && isInternalName(host))
    throw new UserError(errors.internalNameIsPublic, { url: quote(wanted) });
  return binding === 'internal' || (binding === undefined && isInternalName(host));
}

/** The URL that an agent asks for, of whichever field; empty if it asks for none. */
export function wantedUrl({ proto, wanted: { url, domain, addr } }: Pick<BindRequest, 'proto' | 'wanted'>): string {
  const asked = url || domain || addr;
  return asked === '' || asked.includes('://') ? asked : `${proto}://${asked}`;
}

function readWanted({ proto }: BindRequest, wanted: string): EndpointUrl {
  const url = quote(wanted);
  if (wanted === '') throw new UserError(errors.internalUrlMissing);
  checkUrlParts(wanted);
  const read = readEndpointUrl(wanted.replace(/\/$/, ''));
  if (!read.ok) {
    if (read.fault === 'scheme') throw new UserError(errors.internalScheme, { url, scheme: proto });
    if (read.fault === 'port' || read.fault === 'no_port') throw new UserError(errors.internalPort, { url });
    const reason = read.fault === 'host' ? 'its host is no host name' : 'it is longer than a URL of an endpoint';
    throw new UserError(errors.internalUrlInvalid, { url, reason });
  }
  const { scheme, hostname } = read.url;
  if (scheme !== proto) throw new UserError(errors.internalScheme, { url, scheme: proto });
  if (!isInternalName(hostname)) throw new UserError(errors.internalNameDiffers, { url });
  if (hostname.split('.').length - 1 > mostLabels)
    throw new UserError(errors.internalNameTooDeep, { url, limit: mostLabels });
  return read.url;
}
