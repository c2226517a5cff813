import { readBlocks } from './caddy-blocks.ts';
import type { Directive } from './caddy-blocks.ts';
import { CommandFault } from '../../exit.ts';
import { Draft, isHost } from './draft.ts';
import type { Note } from './draft.ts';

/** Directives without which a site does less, and lets in nobody else. */
const harmless = new Set([
  'log',
  'tls',
  'root',
  'file_server',
  'php_fastcgi',
  'templates',
  'metrics',
  'tracing',
  'redir',
]);

/** Turns the reverse proxies of a Caddyfile into a configuration file. */
export function fromCaddyfile(text: string, source: string): Draft {
  if (/^"?(?:_format_version|services|routes)"?:/m.test(text))
    throw new CommandFault(`${source} is no Caddyfile but, it seems, a file of Kong: give it with --kong`);
  if (/^\s*\{\s*"/.test(text))
    throw new CommandFault(`${source} is JSON, and no Caddyfile: give the Caddyfile that it was made from`);
  const draft = new Draft();
  const blocks = readBlocks(text, source);
  // A file of one site needs no braces: its first line has the addresses.
  const [first, ...rest] = blocks;
  const isBare = first !== undefined && first.block === undefined && first.words[0] !== 'import';
  for (const { words, block, line } of isBare ? [{ ...first, block: rest }] : blocks) {
    if (words.length === 0) draft.note('the global options', line);
    else if ((words[0] ?? '').startsWith('(')) draft.note(`snippet ${words[0]}`, line);
    else if (words[0] === 'import') draft.note(`${words.join(' ')}: other files are not read`, line);
    else {
      const addresses = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
      addSite(draft, addresses, block ?? [], line);
    }
  }
  return draft;
}

function addSite(draft: Draft, addresses: readonly string[], directives: readonly Directive[], line: number): void {
  const routes = new Map<string, Route>();
  const fault = readSite(directives, '/', routes, { notes: [], modules: {} });
  for (const address of addresses) {
    const host = address.replace(/^https:\/\//, '').replace(/:443$/, '');
    if (fault !== undefined) draft.note(`site ${address}: ${reasonOf(fault)}`, fault.line);
    else if (/^http:|.:80$/.test(address))
      draft.note(`site ${address}: it is served without TLS, which edges have. To take it, write its name alone`, line);
    else if (!isHost(host))
      draft.note(`site ${host}: an edge needs a host name, and has the port of the gateway`, line);
    else if (routes.size === 0) draft.note(`site ${host}: it has no reverse_proxy`, line);
    else
      for (const [path, { upstream, modules, notes }] of routes) {
        const fields = { backend: { backend: draft.backend(upstream.address, upstream.tls) }, ...modules };
        if (!draft.route(host, path, fields, notes)) draft.note(`site ${host}: ${path} has a route already`, line);
      }
  }
}

function reasonOf({ words }: Directive): string {
  const [name] = words;
  return `${words.join(' ')}: ${name === 'import' ? 'snippets are not read; put its lines here' : 'a copy without it could let in more'}`;
}

interface Upstream {
  readonly address: string;
  readonly tls: boolean;
}

interface Around {
  readonly notes: readonly Note[];
  readonly modules: Readonly<Record<string, unknown>>;
}

interface Route extends Around {
  readonly upstream: Upstream;
}

/** Collects the proxies of a block. Returns the directive that a copy cannot do without, if there is one. */
function readSite(
  directives: readonly Directive[],
  path: string,
  routes: Map<string, Route>,
  around: Around,
): Directive | undefined {
  const notes = [...around.notes];
  const modules: Record<string, unknown> = { ...around.modules };
  for (const directive of directives) {
    const { words, line } = directive;
    const [name = '', ...args] = words;
    if (harmless.has(name)) notes.push({ text: `${words.join(' ')}: not mapped`, line });
    else if (name === 'encode') modules['compression'] = {};
    else if (name === 'header' || name === 'request_header') {
      const headers = withHeader(modules[moduleOf(name)], args);
      if (headers === undefined) return directive;
      modules[moduleOf(name)] = headers;
    }
  }
  for (const directive of directives) {
    const fault = readDirective(directive, path, routes, { notes, modules });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function readDirective(
  directive: Directive,
  path: string,
  routes: Map<string, Route>,
  around: Around,
): Directive | undefined {
  const { words, block, line } = directive;
  const [name = '', ...args] = words;
  if (harmless.has(name) || name === 'encode' || name === 'header' || name === 'request_header') return undefined;
  const matcher = /^[/*@]/.test(args[0] ?? '') ? args[0] : undefined;
  const own = matcher === undefined || matcher === '*' ? path : prefixOf(matcher);
  // A route inside a route would have to match both.
  if (own === undefined || (own !== path && path !== '/')) return directive;
  if (name === 'handle' || name === 'handle_path' || name === 'route') {
    const stripped =
      name === 'handle_path'
        ? [{ text: 'Caddy strips this path before the upstream; here the upstream gets it whole', line }]
        : [];
    return readSite(block ?? [], own, routes, { ...around, notes: [...around.notes, ...stripped] });
  }
  if (name !== 'reverse_proxy') return directive;
  const [first, ...others] = args.slice(matcher === undefined ? 0 : 1);
  const upstream = first === undefined ? undefined : upstreamOf(first);
  if (upstream === undefined || routes.has(own)) return directive;
  const inside = (block ?? []).map((each) => ({
    text: `reverse_proxy: ${each.words.join(' ')}: not mapped`,
    line: each.line,
  }));
  const notes = [...around.notes, ...inside];
  if (others.length > 0)
    notes.push({ text: `only the first upstream, without ${others.join(', ')}: a backend has one address`, line });
  routes.set(own, { ...around, notes, upstream });
  return undefined;
}

/** `/api/*` as the prefix `/api`; undefined for a named matcher and for patterns. */
function prefixOf(matcher: string): string | undefined {
  const prefix = matcher.replace(/\/\*$/, '') || '/';
  return /^\/[^*@{}]*$/.test(prefix) && prefix !== matcher ? prefix : undefined;
}

function upstreamOf(text: string): Upstream | undefined {
  const [, scheme = 'http', host = '', port] =
    /^(?:(https?):\/\/)?([\w.-]*|\[[\da-f:]+\])(?::(\d+))?$/i.exec(text) ?? [];
  if (host === '' && port === undefined) return undefined;
  const isTls = scheme === 'https';
  return { address: `${host || '127.0.0.1'}:${port ?? (isTls ? 443 : 80)}`, tls: isTls };
}

function moduleOf(directive: string): string {
  return directive === 'header' ? 'response_headers' : 'request_headers';
}

interface Headers {
  readonly add?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

/** `Name value` replaces, `+Name value` adds, `-Name` removes. */
function withHeader(before: unknown, [field = '', ...values]: readonly string[]): Headers | undefined {
  // Only this function makes them.
  const { add = {}, remove = [] } = (before ?? {}) as Headers;
  const [, sign = '', name] = /^([+-]?)([\w-]+)$/.exec(field) ?? [];
  const [value] = values;
  if (name === undefined || values.length > 1 || (value === undefined) !== (sign === '-')) return undefined;
  const removed = sign === '+' ? remove : [...new Set([...remove, name])];
  return {
    ...(value === undefined && Object.keys(add).length === 0
      ? {}
      : { add: value === undefined ? add : { ...add, [name]: value } }),
    ...(removed.length === 0 ? {} : { remove: removed }),
  };
}
