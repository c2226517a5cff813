import type { EndpointProto } from './options.ts';

export interface BindAnswer {
  readonly id: string;
  readonly url: string;
  readonly proto: EndpointProto;
  readonly opts: Readonly<Record<string, unknown>>;
  readonly token: string;
}

/** Fields that agents written in Rust do not do without. */
const neededOpts: Readonly<Record<'http' | 'tcp' | 'tls', Readonly<Record<string, unknown>>>> = {
  http: { Hostname: '', Auth: '', Subdomain: '', HostHeaderRewrite: false, ProxyProto: 0 },
  tcp: { Addr: '', ProxyProto: 0 },
  tls: { Hostname: '', Subdomain: '', ProxyProto: 0, MutualTLSAtAgent: false },
};

export function bindResponse({ id, url, proto, opts, token }: BindAnswer): object {
  const needed = neededOpts[proto === 'https' ? 'http' : proto];
  return { Id: id, URL: url, Proto: proto, Opts: { ...needed, ...opts }, Extra: { Token: token, TunnelID: id } };
}
