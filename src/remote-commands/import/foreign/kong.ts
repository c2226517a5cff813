import { isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml';

import { CommandFault } from '../../exit.ts';
import { Draft, isHost, toCidr } from './draft.ts';
import type { Note } from './draft.ts';

type Json = Readonly<Record<string, unknown>>;

/** Plugins that decide nothing about who gets in: without them a route does less, and lets in nobody else. */
const harmless = new Set([
  'prometheus',
  'http-log',
  'file-log',
  'tcp-log',
  'udp-log',
  'syslog',
  'statsd',
  'datadog',
  'zipkin',
  'opentelemetry',
  'correlation-id',
  'proxy-cache',
  'cors',
]);
const mapped = new Set(['ip-restriction', 'request-transformer', 'response-transformer']);

/** Turns services and routes of a declarative file of Kong (decK) into a configuration file. */
export function fromKong(content: string, source: string): Draft {
  const { file, lineOf } = readYaml(content, source);
  const draft = new Draft();
  const services = list(file['services']);
  const shared = list(file['plugins']);
  for (const service of services)
    for (const route of list(service['routes'])) addRoute({ draft, file, shared, lineOf }, service, route);
  for (const route of list(file['routes'])) {
    const { service } = route;
    const name = typeof service === 'string' ? service : object(service)['name'];
    const found = services.find((each) => each['name'] === name);
    if (found === undefined) draft.note(`route ${label(route)}: it names no service of this file`, lineOf(route));
    else addRoute({ draft, file, shared, lineOf }, found, route);
  }
  for (const section of Object.keys(file).filter((key) => !/^_|^(?:services|routes|plugins|upstreams)$/.test(key)))
    draft.note(`section ${section}`, lineOf(file[section]));
  return draft;
}

interface KongFile {
  readonly draft: Draft;
  readonly file: Json;
  /** Plugins for all routes. */
  readonly shared: readonly Json[];
  readonly lineOf: LineOf;
}

function addRoute({ draft, file, shared, lineOf }: KongFile, service: Json, route: Json): void {
  const line = lineOf(route);
  const refuse = (why: string) => draft.note(`${what}: ${why}`, line);
  const what = `route ${label(route)} of service ${label(service)}`;
  // The plugin nearest to the route counts, as in Kong.
  const plugins = new Map<string, Json>();
  for (const plugin of [...shared, ...list(service['plugins']), ...list(route['plugins'])])
    plugins.set(String(plugin['name']), plugin);
  const active = [...plugins.values()].filter(({ enabled }) => enabled !== false);
  const fault = faultOf(route, service, active);
  if (fault !== undefined) return refuse(fault);
  const notes: Note[] = [];
  const backend = backendOf(draft, file, service, (note) => notes.push({ text: note, line }));
  if (backend === undefined) return refuse('the service has no address');
  const fields: Record<string, unknown> = { backend: { backend } };
  for (const plugin of active) {
    const name = String(plugin['name']);
    const config = object(plugin['config']);
    if (name === 'ip-restriction') {
      const rules = rulesOf(config);
      if (rules === undefined) return refuse('its ip-restriction has an entry that is no address or CIDR');
      fields['ip_restriction'] = { ip_policies: [draft.policy(`${label(service)}-addresses`, rules)] };
    } else if (name === 'request-transformer' || name === 'response-transformer') {
      const headers = headersOf(config);
      if (headers === undefined) return refuse(`its ${name} does more than add and remove headers`);
      fields[name === 'request-transformer' ? 'request_headers' : 'response_headers'] = headers;
    } else notes.push({ text: `plugin ${name} is left out`, line: lineOf(plugin) });
  }
  const protocols = texts(route['protocols']);
  if (protocols.length > 0 && !protocols.includes('https'))
    notes.push({ text: 'it was served without TLS; here it has TLS', line });
  const paths = texts(route['paths']);
  for (const host of texts(route['hosts'])) {
    for (const path of paths.length === 0 ? ['/'] : paths) {
      const own = [...notes];
      if (path !== '/' && route['strip_path'] !== false)
        own.push({ text: 'Kong strips this path before the service; here the service gets it whole', line });
      if (!isHost(host) || path.startsWith('~')) refuse(`${host}${path} is no plain host name with a path`);
      else if (!draft.route(host, path.length > 1 ? path.replace(/\/$/, '') : path, fields, own))
        refuse(`${host}${path} has a route already`);
    }
  }
}

/** A condition or check that a copy would not have, so that it would let in more. */
function faultOf(route: Json, service: Json, plugins: readonly Json[]): string | undefined {
  const unknown = plugins.find(({ name }) => !mapped.has(String(name)) && !harmless.has(String(name)));
  if (unknown !== undefined) return `plugin ${String(unknown['name'])}`;
  for (const field of ['methods', 'headers', 'snis', 'sources', 'destinations'])
    if (Object.keys(object(route[field])).length > 0 || texts(route[field]).length > 0) return `its condition ${field}`;
  if (texts(route['protocols']).some((each) => each !== 'http' && each !== 'https')) return 'its protocols';
  if (texts(route['hosts']).length === 0) return 'it has no host, and an edge needs one';
  const { pathname } = urlOf(service) ?? { pathname: '/' };
  return pathname === '/' ? undefined : `the service has the path ${pathname}, and a backend has none`;
}

function urlOf(service: Json): URL | undefined {
  const { url, protocol = 'http', host, port, path = '/' } = service;
  const tail = port === undefined ? '' : `:${text(port)}`;
  const whole = typeof url === 'string' ? url : `${text(protocol)}://${text(host)}${tail}${text(path)}`;
  return (url === undefined && host === undefined) || !URL.canParse(whole) ? undefined : new URL(whole);
}

function backendOf(draft: Draft, file: Json, service: Json, note: (text: string) => void): string | undefined {
  const url = urlOf(service);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const isTls = url.protocol === 'https:';
  const upstream = list(file['upstreams']).find(({ name }) => name === url.hostname);
  const targets = list(upstream?.['targets']).map(({ target }) => String(target));
  if (targets.length > 1) note(`only the first of the targets ${targets.join(', ')}: a backend has one address`);
  const address = targets[0] ?? `${url.hostname}:${url.port === '' ? (isTls ? 443 : 80) : url.port}`;
  return draft.backend(address, isTls);
}

function rulesOf({ allow, deny }: Json): readonly string[] | undefined {
  const allowed = texts(allow).length === 0 ? ['0.0.0.0/0', '::/0'] : texts(allow);
  const rules = [...allowed.map(toCidr), ...texts(deny).map((each) => toCidr(each) && `!${toCidr(each)}`)];
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

function headersOf({ add, remove, ...rest }: Json): object | undefined {
  const added = texts(object(add)['headers']).map((each) => /^([^:]+):\s?(.*)$/s.exec(each));
  const others = [...Object.values(rest), ...otherThanHeaders(add), ...otherThanHeaders(remove)];
  if (others.some((each) => texts(each).length > 0 || Object.values(object(each)).some((in_) => texts(in_).length > 0)))
    return undefined;
  return {
    ...(added.length === 0
      ? {}
      : { add: Object.fromEntries(added.map((match) => [match?.[1] ?? '', match?.[2] ?? ''])) }),
    ...(texts(object(remove)['headers']).length === 0 ? {} : { remove: texts(object(remove)['headers']) }),
  };
}

function otherThanHeaders(part: unknown): readonly unknown[] {
  return Object.entries(object(part)).flatMap(([key, value]) => (key === 'headers' ? [] : [value]));
}

type LineOf = (value: unknown) => number | undefined;

function readYaml(content: string, source: string): { readonly file: Json; readonly lineOf: LineOf } {
  const counter = new LineCounter();
  const document = parseDocument(content, { lineCounter: counter });
  const [fault] = document.errors;
  if (fault !== undefined) throw new CommandFault(`${source}: ${fault.message}`);
  const file: unknown = document.toJS();
  if (!['services', 'routes', 'plugins', 'upstreams'].some((key) => Object.hasOwn(object(file), key)))
    throw new CommandFault(
      `${source} has no services and routes of Kong. Give a file of "deck gateway dump", or a Caddyfile with --caddyfile`,
    );
  const lines = new Map<unknown, number>();
  noteLines(document.contents, file, (value, offset) => lines.set(value, counter.linePos(offset).line));
  return { file: object(file), lineOf: (value) => lines.get(value) };
}

/** Tells where each map and list begins: at its key, where it has one. */
function noteLines(node: unknown, value: unknown, note: (value: unknown, offset: number) => void): void {
  if (isMap(node)) {
    for (const { key, value: inner } of node.items) {
      const below = object(value)[String(key)];
      if (typeof below === 'object' && isNode(key)) note(below, key.range?.[0] ?? 0);
      noteLines(inner, below, note);
    }
  } else if (isSeq(node) && Array.isArray(value)) {
    for (const [at, item] of node.items.entries()) {
      const below: unknown = value[at];
      if (typeof below === 'object' && isNode(item)) note(below, item.range?.[0] ?? 0);
      noteLines(item, below, note);
    }
  }
}

function label({ name, id }: Json): string {
  return text(name ?? id ?? '(without a name)');
}

/** A text or number of YAML; empty for anything else. */
function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function object(value: unknown): Json {
  // YAML has text keys here, or none that are looked for.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
