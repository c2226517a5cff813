import { isMap, isNode, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, YAMLMap } from 'yaml';

import { CommandFault } from '../../exit.ts';
import { checkNesting, whileShallow } from '../../files/nesting.ts';
import { readKongHealth } from './kong-health.ts';
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
const mapped = new Set(['ip-restriction', 'rate-limiting', 'request-transformer', 'response-transformer']);

/** Turns services and routes of a declarative file of Kong (decK) into a configuration file. */
export function fromKong(content: string, source: string): Draft {
  const { file, lineOf } = whileShallow(source, () => readYaml(content, source));
  const draft = new Draft();
  const services = list(file['services']);
  const shared = list(file['plugins']);
  const upstreams = list(file['upstreams']);
  const upstreamOf = indexOf(upstreams, ({ name }) => [name]);
  const parts = { draft, file, sharedBy: sharedIndex(shared), upstreamOf, lineOf };
  const byName = indexOf(services, ({ name }) => [name]);
  const byId = indexOf(services, ({ id }) => [id]);
  const routed = new Set<Json>();
  const add = (service: Json, route: Json) => {
    routed.add(service);
    addRoute(parts, service, route);
  };
  for (const service of services) for (const route of list(service['routes'])) add(service, route);
  for (const route of list(file['routes'])) {
    const found = referred(route['service'], byName, byId);
    if (found === undefined) draft.note(`route ${label(route)}: it names no service of this file`, lineOf(route));
    else add(found, route);
  }
  for (const service of services) {
    if (!routed.has(service)) draft.note(`service ${label(service)}: no route leads to it`, lineOf(service));
    else noteOthers(parts, `service ${label(service)}`, service, serviceFields);
  }
  const hostnames = new Set<unknown>(services.map((service) => urlOf(service)?.hostname));
  for (const upstream of upstreams) {
    if (hostnames.has(upstream['name'])) noteOthers(parts, `upstream ${label(upstream)}`, upstream, upstreamFields);
    else draft.note(`upstream ${label(upstream)}: no service has it`, lineOf(upstream));
  }
  for (const plugin of shared.filter(isOfConsumer))
    draft.note(`plugin ${text(plugin['name'])} of a consumer: there are none here`, lineOf(plugin));
  for (const section of Object.keys(file).filter((key) => !/^_|^(?:services|routes|plugins|upstreams)$/.test(key)))
    draft.note(`section ${section}`, lineOf(file[section]));
  return draft;
}

/** Fields that are taken over, or that say nothing about traffic. */
const about = ['name', 'id', 'tags', 'plugins', 'created_at', 'updated_at'];
const serviceFields = new Set([...about, 'url', 'protocol', 'host', 'port', 'path', 'routes', 'enabled', 'retries']);
const upstreamFields = new Set([
  ...about,
  'targets',
  'algorithm',
  'hash_on',
  'hash_on_header',
  'healthchecks',
  'slots',
]);
const routeFields = new Set([...about, 'service', 'hosts', 'paths', 'protocols', 'strip_path', 'path_handling']);

/** Lists fields that have no counterpart here. */
function noteOthers({ draft, lineOf }: KongFile, what: string, given: Json, known: ReadonlySet<string>): void {
  const others = Object.keys(given).filter((field) => !known.has(field) && !isEmpty(given[field]));
  if (others.length > 0) draft.note(`${what}: ${others.join(', ')}: not mapped`, lineOf(given));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

type Index = ReadonlyMap<unknown, Json>;

/** The first of each key; undefined is none. */
function indexOf(all: readonly Json[], keysOf: (each: Json) => readonly unknown[]): Index {
  const index = new Map<unknown, Json>();
  for (const each of all)
    for (const key of keysOf(each)) if (key !== undefined && !index.has(key)) index.set(key, each);
  return index;
}

function referred(reference: unknown, byName: Index, byId: Index): Json | undefined {
  const given = typeof reference === 'object' ? object(reference) : { name: reference, id: reference };
  return byName.get(given['name']) ?? byId.get(given['id']);
}

/** Plugins of the top, by the names and ids of the services and routes that they are for; `''`: for all. */
function sharedIndex(shared: readonly Json[]): ReadonlyMap<unknown, readonly Json[]> {
  const index = new Map<unknown, Json[]>();
  for (const plugin of shared) {
    const target = [plugin['route'], plugin['service']].find((each) => !isEmpty(each));
    const { name, id } = typeof target === 'object' ? object(target) : { name: target, id: target };
    for (const key of new Set(target === undefined ? [''] : [name, id].filter((each) => each !== undefined))) {
      const known = index.get(key);
      if (known === undefined) index.set(key, [plugin]);
      else known.push(plugin);
    }
  }
  return index;
}

/** True if a reference by name or id is one to this. */
function names(reference: unknown, { name, id }: Json): boolean {
  const given = typeof reference === 'object' ? object(reference) : { name: reference, id: reference };
  return (given['name'] !== undefined && given['name'] === name) || (given['id'] !== undefined && given['id'] === id);
}

function isOfConsumer(plugin: Json): boolean {
  return !isEmpty(plugin['consumer']) || !isEmpty(plugin['consumer_group']);
}

/** A plugin of the top of the file is for all, or for the service and route that it names. */
function appliesTo(plugin: Json, service: Json, route: Json): boolean {
  if (isOfConsumer(plugin)) return false;
  const ofService = isEmpty(plugin['service']) || names(plugin['service'], service);
  return ofService && (isEmpty(plugin['route']) || names(plugin['route'], route));
}

/** How near a plugin of the top is to a route: the nearest of a name counts. */
function nearness(plugin: Json): number {
  return (isEmpty(plugin['route']) ? 0 : 2) + (isEmpty(plugin['service']) ? 0 : 1);
}

interface KongFile {
  readonly draft: Draft;
  readonly file: Json;
  /** Plugins of the top of the file. */
  readonly sharedBy: ReadonlyMap<unknown, readonly Json[]>;
  readonly upstreamOf: Index;
  readonly lineOf: LineOf;
}

function addRoute({ draft, file, sharedBy, upstreamOf, lineOf }: KongFile, service: Json, route: Json): void {
  const line = lineOf(route);
  const refuse = (why: string) => draft.note(`${what}: ${why}`, line);
  const what = `route ${label(route)} of service ${label(service)}`;
  // The plugin nearest to the route counts, as in Kong.
  const plugins = new Map<string, Json>();
  const near = ['', service['name'], service['id'], route['name'], route['id']].flatMap(
    (key) => sharedBy.get(key) ?? [],
  );
  const top = [...new Set(near)]
    .filter((plugin) => appliesTo(plugin, service, route))
    .toSorted((a, b) => nearness(a) - nearness(b));
  for (const plugin of [
    ...top.filter((each) => isEmpty(each['route'])),
    ...list(service['plugins']),
    ...top.filter((each) => !isEmpty(each['route'])),
    ...list(route['plugins']),
  ])
    plugins.set(String(plugin['name']), plugin);
  const active = [...plugins.values()].filter(({ enabled }) => enabled !== false);
  const fault = faultOf(route, service, active);
  if (fault !== undefined) return refuse(fault);
  const notes: Note[] = [];
  const backend = backendOf(draft, upstreamOf, service, (note) => notes.push({ text: note, line }));
  if (backend === undefined) return refuse('the service has no address');
  const fields: Record<string, unknown> = { backend: { backend } };
  for (const plugin of active) {
    const name = String(plugin['name']);
    const config = { ...object(object(file['_plugin_configs'])[text(plugin['_config'])]), ...object(plugin['config']) };
    if (name === 'ip-restriction') {
      const rules = rulesOf(config);
      if (rules === undefined)
        return refuse('its ip-restriction has something else than addresses and CIDRs to allow and deny');
      fields['ip_restriction'] = { ip_policies: [draft.policy(`${label(service)}-addresses`, rules)] };
    } else if (name === 'rate-limiting') {
      const limit = rateLimitOf(config);
      if (limit === undefined)
        return refuse('its rate-limiting has several limits, or counts by what is not known here');
      fields['rate_limit'] = limit;
      notes.push({ text: 'its rate limit slides, and holds for all gateways together', line: lineOf(plugin) });
    } else if (name === 'request-transformer' || name === 'response-transformer') {
      const headers = headersOf(config);
      if (headers === undefined) return refuse(`its ${name} does more than add and remove headers`);
      fields[name === 'request-transformer' ? 'request_headers' : 'response_headers'] = headers;
    } else notes.push({ text: `plugin ${name} is left out`, line: lineOf(plugin) });
  }
  const others = Object.keys(route).filter((field) => !routeFields.has(field) && !isEmpty(route[field]));
  if (others.length > 0) notes.push({ text: `${others.join(', ')}: not mapped`, line });
  const protocols = texts(route['protocols']);
  if (protocols.length > 0 && !protocols.includes('https'))
    notes.push({ text: 'it was served without TLS; here it has TLS', line });
  const paths = texts(route['paths']);
  const prefix = pathOf(service);
  for (const host of texts(route['hosts'])) {
    for (const path of paths.length === 0 ? ['/'] : paths) {
      const rewrite = {
        ...(path !== '/' && route['strip_path'] !== false ? { strip_prefix: path } : {}),
        ...(prefix === '' ? {} : { add_prefix: prefix }),
      };
      const own = isEmpty(rewrite) ? fields : { ...fields, path_rewrite: rewrite };
      if (!isHost(host) || !/^\/[\w.~%!$&',;=:@/-]*$/.test(path))
        refuse(`${host}${path} is no plain host name with a path`);
      else if (!draft.route(host, path.length > 1 ? path.replace(/\/$/, '') : path, own, notes))
        refuse(`${host}${path} has a route already`);
    }
  }
}

/** A condition or check that a copy would not have, so that it would let in more. */
function faultOf(route: Json, service: Json, plugins: readonly Json[]): string | undefined {
  if (service['enabled'] === false) return 'the service is not enabled';
  const unknown = plugins.find(({ name }) => !mapped.has(String(name)) && !harmless.has(String(name)));
  if (unknown !== undefined) return `plugin ${String(unknown['name'])}`;
  for (const field of ['methods', 'headers', 'snis', 'sources', 'destinations'])
    if (Object.keys(object(route[field])).length > 0 || texts(route[field]).length > 0) return `its condition ${field}`;
  if (texts(route['protocols']).some((each) => each !== 'http' && each !== 'https')) return 'its protocols';
  if (texts(route['hosts']).length === 0) return 'it has no host, and an edge needs one';
  const path = pathOf(service);
  if (path !== '' && route['path_handling'] === 'v1') return 'its path_handling v1, beside a path of the service';
  return /\/\/|;/.test(path) ? `the service has the path ${path}, which servers read in different ways` : undefined;
}

/** The path that Kong puts before what is left of that of a request; without a slash at its end. */
function pathOf(service: Json): string {
  return urlOf(service)?.pathname.replace(/\/$/, '') ?? '';
}

function urlOf(service: Json): URL | undefined {
  const { url, protocol = 'http', host, port, path = '/' } = service;
  const tail = port === undefined ? '' : `:${text(port)}`;
  const whole = typeof url === 'string' ? url : `${text(protocol)}://${text(host)}${tail}${text(path)}`;
  return (url === undefined && host === undefined) || !URL.canParse(whole) ? undefined : new URL(whole);
}

const defaultTargetPort = 8000;

function backendOf(draft: Draft, upstreamOf: Index, service: Json, note: (text: string) => void): string | undefined {
  const url = urlOf(service);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const isTls = url.protocol === 'https:';
  const upstream = upstreamOf.get(url.hostname);
  const targets = list(upstream?.['targets']).filter(({ weight }) => weight !== 0);
  if (upstream === undefined || targets.length === 0)
    return draft.backend([{ address: `${url.hostname}:${url.port === '' ? (isTls ? 443 : 80) : url.port}` }], isTls);
  const heaviest = Math.max(...targets.map(weightOf));
  const addresses = targets.slice(0, mostAddresses).map((each) => {
    const target = String(each['target']);
    // Weights go to 65535 there, and to 10000 here.
    const weight =
      heaviest > mostWeight ? Math.max(1, Math.round((weightOf(each) * mostWeight) / heaviest)) : weightOf(each);
    return { address: /:\d+$/.test(target) ? target : `${target}:${defaultTargetPort}`, weight };
  });
  if (targets.length > mostAddresses) note(`only the first ${mostAddresses} of its ${targets.length} targets`);
  const isEven = addresses.every(({ weight }) => weight === addresses[0]?.weight);
  const { settings, left } = readKongHealth(upstream, service);
  for (const each of left) note(`upstream ${label(upstream)}: ${each}: not mapped`);
  return draft.backend(isEven ? addresses.map(({ address }) => ({ address })) : addresses, isTls, settings);
}

const mostAddresses = 32;
const mostWeight = 10_000;

function weightOf({ weight }: Json): number {
  return typeof weight === 'number' ? weight : 100;
}

/** `whitelist` and `blacklist` are the names of older versions; `status` and `message` are those of the answer. */
function rulesOf({
  allow,
  deny,
  whitelist,
  blacklist,
  status: _s,
  message: _m,
  ...rest
}: Json): readonly string[] | undefined {
  const [allows, denies] = [
    [...texts(allow), ...texts(whitelist)],
    [...texts(deny), ...texts(blacklist)],
  ];
  // Without an entry, or with one that is not understood, everybody would be let in.
  if (allows.length + denies.length === 0 || Object.values(rest).some((each) => !isEmpty(each))) return undefined;
  const allowed = allows.length === 0 ? ['0.0.0.0/0', '::/0'] : allows;
  const rules = [...allowed.map(toCidr), ...denies.map((each) => toCidr(each) && `!${toCidr(each)}`)];
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

const windows: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

/** Kong counts consumers by default, and sources where it knows none: routes that sign them in are not taken over. */
function rateLimitOf(config: Json): object | undefined {
  const given = ['second', 'minute', 'hour', 'day', 'month', 'year'].filter((each) => !isEmpty(config[each]));
  const [unit = ''] = given;
  const window_seconds = windows[unit];
  const limit = Number(config[unit]);
  const by = text(config['limit_by']) || 'consumer';
  if (given.length !== 1 || window_seconds === undefined || !Number.isSafeInteger(limit) || limit < 1) return undefined;
  if (by === 'header') return { limit, window_seconds, by, header: text(config['header_name']) };
  return by === 'ip' || by === 'consumer' || by === 'credential' ? { limit, window_seconds } : undefined;
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
  // The parser's own check of keys compares each with every other.
  const document = parseDocument(content, { lineCounter: counter, uniqueKeys: false });
  checkNesting(source, document.errors);
  const [fault] = document.errors;
  if (fault !== undefined) throw new CommandFault(`${source}: ${fault.message}`);
  checkKeys(document, counter, source);
  const file: unknown = document.toJS();
  if (!['services', 'routes', 'plugins', 'upstreams'].some((key) => Object.hasOwn(object(file), key)))
    throw new CommandFault(
      `${source} has no services and routes of Kong. Give a file of "deck gateway dump", or a Caddyfile with --caddyfile`,
    );
  const lines = new Map<unknown, number>();
  noteLines(document.contents, file, (value, offset) => lines.set(value, counter.linePos(offset).line));
  return { file: object(file), lineOf: (value) => lines.get(value) };
}

function checkKeys(document: Document, counter: LineCounter, source: string): void {
  visit(document, {
    Map(_key, map: YAMLMap) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = String(key);
        const line = counter.linePos(isNode(key) ? (key.range?.[0] ?? 0) : 0).line;
        if (seen.has(name)) throw new CommandFault(`${source}: line ${line}: ${name} is there twice`);
        seen.add(name);
      }
    },
  });
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
