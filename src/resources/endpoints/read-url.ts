import { quote, UserError } from '../../errors/user-error.ts';
import { formatEndpointUrl, isInternalName, readEndpointUrl } from '../../lib/endpoint-url.ts';
import type { EndpointScheme, EndpointUrl, EndpointUrlFault } from '../../lib/endpoint-url.ts';
import type { ResourceSettings } from '../resource.ts';
import * as errors from './errors.ts';
import { bindings } from './table.ts';
import type { Binding } from './table.ts';

/** Most labels of an internal name before its end. */
const mostLabels = 5;

const reasons: Readonly<Record<Exclude<EndpointUrlFault, 'no_scheme' | 'no_port'>, string>> = {
  scheme: 'its scheme is none of http, https, tls and tcp',
  form: 'it must have a scheme, a host and perhaps a port, and nothing else',
  host: 'its host is no host name; one "*" may stand for its first label',
  port: 'its port must be a number from 1 to 65535',
};

export interface Place {
  readonly url: string;
  readonly parts: EndpointUrl;
  readonly binding: Binding;
}

/** The place that a URL and bindings of a request ask for. Throws for one that no endpoint can have. */
export function readPlace(text: string, given: readonly string[], settings: ResourceSettings): Place {
  const read = readEndpointUrl(text);
  if (!read.ok) throw refuse(text, read.fault);
  const isInternal = isInternalName(read.url.hostname);
  const binding = readBinding(given, isInternal);
  if (isInternal) {
    checkInternal(text, read.url);
    return { url: formatEndpointUrl(read.url), parts: read.url, binding };
  }
  const parts = { ...read.url, port: publicPort(text, read.url, settings) };
  return { url: formatEndpointUrl(parts), parts, binding };
}

function refuse(text: string, fault: EndpointUrlFault): UserError {
  const url = quote(text);
  if (fault === 'no_scheme') return new UserError(errors.schemeMissing, { url, meant: quote(`https://${text}`) });
  if (fault === 'no_port') return new UserError(errors.portMissing, { url, meant: quote(`${text}:12345`) });
  return new UserError(errors.invalidUrl, { url, reason: reasons[fault] });
}

/** Without bindings the name decides. */
function readBinding(given: readonly string[], isInternal: boolean): Binding {
  const refuseThese = (reason: string) => new UserError(errors.invalidBinding, { bindings: quote(given), reason });
  const [first = isInternal ? 'internal' : 'public', ...more] = given;
  if (more.length > 0) throw refuseThese('an endpoint has one binding');
  if (first === 'kubernetes') throw refuseThese('this server has no listener inside of Kubernetes clusters');
  const binding = bindings.find((each) => each === first);
  if (binding === undefined) throw refuseThese('a binding is "public" or "internal"');
  if (isInternal && binding === 'public') throw refuseThese('a name that ends with .internal is internal');
  if (!isInternal && binding === 'internal') throw refuseThese('the name of an internal endpoint ends with .internal');
  return binding;
}

function checkInternal(text: string, { hostname }: EndpointUrl): void {
  if (hostname.split('.').length - 1 <= mostLabels) return;
  const reason = `an internal name has ${mostLabels} parts before .internal at most`;
  throw new UserError(errors.invalidUrl, { url: quote(text), reason });
}

/** The port that visitors use here goes without saying. */
function publicPort(text: string, { scheme, hostname, port }: EndpointUrl, settings: ResourceSettings): number {
  if (scheme === 'tcp') return port;
  const usual = usualPorts[scheme];
  const own = ownPort(scheme, hostname, settings);
  if (port !== usual && port !== own)
    throw new UserError(errors.wrongPort, { url: quote(text), scheme, port: [...new Set([usual, own])].join(' or ') });
  return usual;
}

const usualPorts = { http: 80, https: 443, tls: 443 } as const;

function ownPort(scheme: EndpointScheme, hostname: string, { httpUrlPort, httpsUrlPort }: ResourceSettings): number {
  if (scheme !== 'http') return httpsUrlPort(hostname);
  return httpUrlPort?.(hostname) ?? usualPorts.http;
}

/** Throws for a place that visitors cannot come to with the settings of the operator. */
export function checkServed({ parts: { scheme }, binding }: Place, { httpUrlPort }: ResourceSettings): void {
  if (scheme === 'http' && binding === 'public' && httpUrlPort === undefined)
    throw new UserError(errors.schemeNotServed, { scheme, setting: 'GATEHOUSE_HTTP_LISTEN' });
}
