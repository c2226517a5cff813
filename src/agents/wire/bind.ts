import { maxMetadata } from './auth.ts';
import { FieldReader } from './fields.ts';
import { isObject } from './json-value.ts';
import { isAsked, maxPolicy, readOptions } from './options.ts';
import type { EndpointOptions, EndpointProto } from './options.ts';

/** Asks for an endpoint of its own. */
export interface BindRequest {
  readonly kind: 'endpoint';
  /** The tunnel's id, and what came with it, when it is bound again after a reconnect; else empty. */
  readonly id: string;
  readonly token: string;
  readonly proto: EndpointProto;
  /** Names or addresses that are asked for, as they came; all empty to leave the choice to the server. */
  readonly wanted: WantedName;
  readonly options: EndpointOptions;
  readonly upstream: Upstream;
  readonly metadata: string;
  readonly name: string;
  readonly description: string;
  readonly poolingEnabled: boolean;
  /** `internal`: no listener reaches it. Undefined: its name decides. */
  readonly binding: 'public' | 'internal' | undefined;
  /** The options as they came: the agent expects them in the answer, and sends that again after a reconnect. */
  readonly opts: Readonly<Record<string, unknown>>;
}

export interface WantedName {
  /** Full URL. */
  readonly url: string;
  /** Host name. */
  readonly domain: string;
  /** First label of a host name. */
  readonly subdomain: string;
  /** `host:port`, for tcp. */
  readonly addr: string;
}

/** Where the agent takes the traffic to, for people to read. */
export interface Upstream {
  readonly url: string;
  readonly protocol: '' | 'http1';
}

/** Asks for traffic of edges whose backend names these labels. */
export interface LabelsRequest {
  readonly kind: 'labels';
  readonly labels: Readonly<Record<string, string>>;
  readonly upstream: Upstream;
  readonly metadata: string;
}

/** Changes a tunnel that is open; what is absent stays. */
export interface PatchRequest {
  readonly tunnelId: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: string;
  readonly poolingEnabled?: boolean;
  /** Empty: none from now on. */
  readonly trafficPolicy?: string;
}

export type Asked<Request> =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly refused: readonly string[] };

const maxId = 64;
const maxName = 1024;
const maxDescription = 255;
const maxLabels = 16;
const protos = ['http', 'https', 'tcp', 'tls'] as const;
const bindings = ['public', 'internal'] as const;
const upstreamProtocols = ['', 'http1', 'http2'] as const;
const bindFields = new Set(['id', 'proto', 'forwardsto', 'forwardsproto', 'opts', 'extra']);
const extraFields = new Set(['token', 'ippolicyref', 'metadata', 'bindings', 'poolingenabled', 'name', 'description']);
const patchFields = new Set(['tunnelid', 'name', 'description', 'metadata', 'poolingenabled', 'trafficpolicy']);
const labelFields = new Set(['labels', 'forwardsto', 'forwardsproto', 'metadata']);

/** Throws a `MessageFault`. */
export function readBind(message: Readonly<Record<string, unknown>>): Asked<BindRequest> {
  const fields = new FieldReader(message);
  const extra = fields.inner('Extra');
  const proto = fields.oneOf('Proto', protos);
  const opts = fields.inner('Opts');
  const read = readOptions(opts, proto);
  const upstream = readUpstream(fields);
  const refused = [
    ...(read.ok ? [] : read.refused),
    ...refusedExtras(extra),
    ...unknownFields(fields, bindFields, ''),
    ...unknownFields(extra, extraFields, 'Extra.'),
  ];
  if (!read.ok || !upstream.ok || refused.length > 0)
    return { ok: false, refused: [...refused, ...(upstream.ok ? [] : upstream.refused)] };
  const sentOpts = fields.raw('Opts');
  const request: BindRequest = {
    kind: 'endpoint',
    id: readTunnelId(fields, 'Id'),
    token: extra.text('Token', maxName),
    proto,
    wanted: {
      url: opts.text('URL', maxName),
      // The two names of one option, of newer and older agents.
      domain: opts.text('Domain', maxName) || opts.text('Hostname', maxName),
      subdomain: opts.text('Subdomain', maxName),
      addr: opts.text('Addr', maxName),
    },
    options: read.options,
    upstream: upstream.request,
    metadata: extra.text('Metadata', maxMetadata),
    name: extra.text('Name', maxDescription),
    description: extra.text('Description', maxDescription),
    poolingEnabled: extra.flag('PoolingEnabled'),
    binding: bindings.find((each) => readBindings(extra).includes(each)),
    opts: isObject(sentOpts) ? sentOpts : {},
  };
  return { ok: true, request };
}

/** Throws a `MessageFault`. */
export function readLabels(message: Readonly<Record<string, unknown>>): Asked<LabelsRequest> {
  const fields = new FieldReader(message);
  const sent = fields.raw('Labels');
  // Case counts in labels, unlike in the names of fields.
  const labels = Object.entries(isObject(sent) ? sent : {});
  if (labels.length === 0) throw fields.fault('Labels', 'must have at least one label');
  if (labels.length > maxLabels) throw fields.fault('Labels', `must have at most ${maxLabels} labels`);
  for (const [key, value] of labels) {
    if (key === '' || key.length > 255 || typeof value !== 'string' || value.length > 255)
      throw fields.fault('Labels', 'must have keys and texts of at most 255 characters');
  }
  const upstream = readUpstream(fields);
  const unknown = unknownFields(fields, labelFields, '');
  if (!upstream.ok || unknown.length > 0)
    return { ok: false, refused: [...unknown, ...(upstream.ok ? [] : upstream.refused)] };
  const request: LabelsRequest = {
    kind: 'labels',
    // Every value was found to be a text; without a prototype, because the keys are the agent's.
    labels: Object.assign(Object.create(null), Object.fromEntries(labels)) as Record<string, string>,
    upstream: upstream.request,
    metadata: fields.text('Metadata', maxMetadata),
  };
  return { ok: true, request };
}

/** Throws a `MessageFault`. */
export function readUnbind(message: Readonly<Record<string, unknown>>): string {
  return readTunnelId(new FieldReader(message), 'Id');
}

/** Throws a `MessageFault`. */
export function readPatch(message: Readonly<Record<string, unknown>>): Asked<PatchRequest> {
  const fields = new FieldReader(message);
  const refused = unknownFields(fields, patchFields, '');
  if (refused.length > 0) return { ok: false, refused };
  const isGiven = (name: string): boolean => (fields.raw(name) ?? undefined) !== undefined;
  const request: PatchRequest = {
    tunnelId: readTunnelId(fields, 'TunnelId'),
    ...(isGiven('Name') ? { name: fields.text('Name', maxDescription) } : {}),
    ...(isGiven('Description') ? { description: fields.text('Description', maxDescription) } : {}),
    ...(isGiven('Metadata') ? { metadata: fields.text('Metadata', maxMetadata) } : {}),
    ...(isGiven('TrafficPolicy') ? { trafficPolicy: fields.text('TrafficPolicy', maxPolicy) } : {}),
    ...(isGiven('PoolingEnabled') ? { poolingEnabled: fields.flag('PoolingEnabled') } : {}),
  };
  return { ok: true, request };
}

/** Options beside `Opts` that change who can reach the endpoint. */
function refusedExtras(extra: FieldReader): readonly string[] {
  const asked = readBindings(extra);
  const unknown = asked.filter((binding) => !bindings.some((each) => each === binding));
  return [
    ...(extra.text('IPPolicyRef', maxName) === '' ? [] : ['IPPolicyRef']),
    ...unknown.map((binding) => `Bindings "${binding}"`),
    ...(unknown.length === 0 && asked.length > 1 ? ['Bindings with more than one'] : []),
  ];
}

function readBindings(extra: FieldReader): readonly string[] {
  return extra.texts('Bindings', 16, 64);
}

function readTunnelId(fields: FieldReader, name: string): string {
  const id = fields.text(name, maxId);
  if (!/^[A-Za-z0-9_]*$/.test(id)) throw fields.fault(name, 'must be an id that the server gave');
  return id;
}

/** Fields of newer agents, which may be guards as well as anything else. */
function unknownFields(fields: FieldReader, known: ReadonlySet<string>, path: string): readonly string[] {
  const asked = fields.namesBeside(known).filter((name) => isAsked(fields.raw(name)));
  return asked.map((name) => `${path}${name.slice(0, maxId)}`);
}

/** Streams to agents carry HTTP/1.1: a program that expects HTTP/2 would understand none of it. */
function readUpstream(fields: FieldReader): Asked<Upstream> {
  const url = fields.text('ForwardsTo', 4096);
  const protocol = fields.oneOf('ForwardsProto', upstreamProtocols);
  if (protocol === 'http2') return { ok: false, refused: ['ForwardsProto "http2"'] };
  return { ok: true, request: { url, protocol } };
}
