import { parseHostname } from './host-port.ts';

export const endpointSchemes = ['http', 'https', 'tcp', 'tls'] as const;
export type EndpointScheme = (typeof endpointSchemes)[number];

/** Where an endpoint is reached. */
export interface EndpointUrl {
  readonly scheme: EndpointScheme;
  /** Lower case; the first label may be `*`. */
  readonly hostname: string;
  readonly port: number;
}

export type EndpointUrlFault = 'no_scheme' | 'scheme' | 'form' | 'host' | 'no_port' | 'port';

export type ReadEndpointUrl =
  | { readonly ok: true; readonly url: EndpointUrl }
  | { readonly ok: false; readonly fault: EndpointUrlFault };

const urlPattern = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^]*)$/;
const portPattern = /^[1-9][0-9]{0,4}$/;
/** More than any host name with a scheme and a port has. */
const longest = 300;
const usualPorts: Readonly<Record<EndpointScheme, number | undefined>> = {
  http: 80,
  https: 443,
  tls: 443,
  tcp: undefined,
};

/** The top level below which names are reached from inside an account alone. */
const internalEnd = '.internal';

/** Reads `scheme://host` or `scheme://host:port`, with nothing behind it. */
export function readEndpointUrl(text: string): ReadEndpointUrl {
  const [, sent, authority = ''] = urlPattern.exec(text.slice(0, longest)) ?? [];
  if (sent === undefined) return { ok: false, fault: 'no_scheme' };
  const scheme = endpointSchemes.find((each) => each === sent.toLowerCase());
  if (scheme === undefined) return { ok: false, fault: 'scheme' };
  if (text.length > longest || /[/?#@\\\s]/.test(authority)) return { ok: false, fault: 'form' };
  const colon = authority.indexOf(':');
  const hostname = parseHostname(colon < 0 ? authority : authority.slice(0, colon), { wildcard: true });
  if (hostname === undefined) return { ok: false, fault: 'host' };
  const portText = colon < 0 ? undefined : authority.slice(colon + 1);
  if (portText !== undefined && !(portPattern.test(portText) && Number(portText) <= 65_535))
    return { ok: false, fault: 'port' };
  const port = portText === undefined ? usualPorts[scheme] : Number(portText);
  return port === undefined ? { ok: false, fault: 'no_port' } : { ok: true, url: { scheme, hostname, port } };
}

/** The URL in its shortest form, by which equal ones are known. */
export function formatEndpointUrl({ scheme, hostname, port }: EndpointUrl): string {
  return `${scheme}://${hostname}${usualPorts[scheme] === port ? '' : `:${port}`}`;
}

export function isInternalName(hostname: string): boolean {
  return hostname.endsWith(internalEnd);
}

/** Wildcards that a name is below, the nearest first. `*` stands for one label or several. */
export function* wildcardsAbove(hostname: string): Generator<string> {
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1)) yield `*${hostname.slice(dot)}`;
}
