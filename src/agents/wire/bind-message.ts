import type { BindAnswer } from './bind-response.ts';
import type { LabelsRequest, Upstream, WantedName } from './bind.ts';
import { FieldReader } from './fields.ts';
import { isObject } from './json-value.ts';
import type { EndpointOptions, EndpointProto, HeaderOptions } from './options.ts';

/** Options that our own agent can ask for. */
export type AskedOptions = Pick<
  EndpointOptions,
  'proxyProto' | 'ipRestriction' | 'requestHeaders' | 'responseHeaders' | 'compression'
> & { readonly basicAuth?: readonly { readonly username: string; readonly password: string }[] };

/** A `BindRequest` as an agent sends it. */
export interface BindMessage {
  /** Id and token of the answer before, after a reconnect; else empty. */
  readonly id: string;
  readonly token: string;
  readonly proto: EndpointProto;
  readonly upstream: Upstream;
  readonly metadata: string;
  readonly poolingEnabled: boolean;
  /** Options of the answer before, after a reconnect, since they have the name that was given; else of `optsMessage`. */
  readonly opts: Readonly<Record<string, unknown>>;
}

/** The other half of `readBind`. */
export function bindMessage({ id, token, proto, upstream, metadata, poolingEnabled, opts }: BindMessage): object {
  return {
    Id: id,
    Proto: proto,
    ForwardsTo: upstream.url,
    ForwardsProto: upstream.protocol,
    Opts: opts,
    Extra: { Token: token, Metadata: metadata, Bindings: [], PoolingEnabled: poolingEnabled },
  };
}

/** The other half of `readOptions`; options that are not asked for are left out. */
export function optsMessage(
  { domain = '', addr = '' }: Partial<Pick<WantedName, 'domain' | 'addr'>>,
  { proxyProto, ipRestriction, requestHeaders, responseHeaders, compression, basicAuth }: AskedOptions,
): Readonly<Record<string, unknown>> {
  return {
    ...(domain === '' ? {} : { Domain: domain }),
    ...(addr === '' ? {} : { Addr: addr }),
    ProxyProto: proxyProto,
    ...(ipRestriction && { IPRestriction: { allow_cidrs: ipRestriction.allow, deny_cidrs: ipRestriction.deny } }),
    ...(requestHeaders && { RequestHeaders: headersMessage(requestHeaders) }),
    ...(responseHeaders && { ResponseHeaders: headersMessage(responseHeaders) }),
    ...(compression && { Compression: {} }),
    ...(basicAuth && {
      BasicAuth: {
        credentials: basicAuth.map(({ username, password }) => ({ username, cleartext_password: password })),
      },
    }),
  };
}

function headersMessage({ add, remove }: HeaderOptions): object {
  return { add: add.map(([name, value]) => `${name}:${value}`), remove };
}

/** The other half of `readLabels`. */
export function labelsMessage({ labels, upstream, metadata }: Omit<LabelsRequest, 'kind'>): object {
  return { Labels: labels, ForwardsTo: upstream.url, ForwardsProto: upstream.protocol, Metadata: metadata };
}

/** The other half of `bindResponse`. Throws a `MessageFault`. */
export function readBindResponse(message: Readonly<Record<string, unknown>>): Omit<BindAnswer, 'proto'> {
  const fields = new FieldReader(message);
  const opts = fields.raw('Opts');
  return {
    id: readGivenId(fields),
    url: fields.text('URL', 4096),
    opts: isObject(opts) ? opts : {},
    token: fields.inner('Extra').text('Token', 1024),
  };
}

/** Reads the id of a tunnel for labels. Throws a `MessageFault`. */
export function readLabelsResponse(message: Readonly<Record<string, unknown>>): string {
  return readGivenId(new FieldReader(message));
}

function readGivenId(fields: FieldReader): string {
  const id = fields.text('Id', 128);
  if (id === '') throw fields.fault('Id', 'is missing');
  return id;
}
