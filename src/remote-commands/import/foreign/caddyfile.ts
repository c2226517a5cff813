import { readBlocks } from './caddy-blocks.ts';
import type { Directive } from './caddy-blocks.ts';
import { Draft, isHost } from './draft.ts';

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
export function fromCaddyfile(text: string, source: string): string {
  const draft = new Draft();
  const blocks = readBlocks(text, source);
  // A file of one site needs no braces: its first line has the addresses.
  const [first, ...rest] = blocks;
  const isBare = first !== undefined && first.block === undefined;
  for (const { words, block } of isBare ? [{ words: first.words, block: rest }] : blocks) {
    if (words.length === 0) draft.note('the global options');
    else if ((words[0] ?? '').startsWith('(')) draft.note(`snippet ${words[0]}`);
    else
      addSite(
        draft,
        words.flatMap((word) => word.split(',')).filter((word) => word !== ''),
        block ?? [],
      );
  }
  return draft.toYaml(source);
}

function addSite(draft: Draft, addresses: readonly string[], directives: readonly Directive[]): void {
  const hosts = addresses.map((address) => address.replace(/^https?:\/\//, '').replace(/:(?:80|443)$/, ''));
  const routes = new Map<string, Route>();
  const fault = readSite(directives, '/', routes, { notes: [], modules: {} });
  for (const host of hosts) {
    if (fault !== undefined) draft.note(`site ${host}: ${fault}`);
    else if (!isHost(host)) draft.note(`site ${host}: an edge needs a host name, and has the port of the gateway`);
    else if (routes.size === 0) draft.note(`site ${host}: it has no reverse_proxy`);
    else
      for (const [path, { upstream, modules, notes }] of routes) {
        const fields = { backend: { backend: draft.backend(upstream.address, upstream.tls) }, ...modules };
        if (!draft.route(host, path, fields, notes)) draft.note(`site ${host}: ${path} has a route already`);
      }
  }
}

interface Upstream {
  readonly address: string;
  readonly tls: boolean;
}

interface Around {
  readonly notes: readonly string[];
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
): string | undefined {
  const notes = [...around.notes];
  const modules: Record<string, unknown> = { ...around.modules };
  for (const { words } of directives) {
    const [name = '', ...args] = words;
    if (harmless.has(name)) notes.push(`${words.join(' ')}: not mapped`);
    else if (name === 'encode') modules['compression'] = {};
    else if (name === 'header' || name === 'request_header') {
      const headers = withHeader(modules[moduleOf(name)], args);
      if (headers === undefined) return words.join(' ');
      modules[moduleOf(name)] = headers;
    }
  }
  for (const directive of directives) {
    const fault = readDirective(directive, path, routes, { notes, modules });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function readDirective({ words, block }: Directive, path: string, routes: Map<string, Route>, around: Around) {
  const [name = '', ...args] = words;
  if (harmless.has(name) || name === 'encode' || name === 'header' || name === 'request_header') return undefined;
  const matcher = /^[/*@]/.test(args[0] ?? '') ? args[0] : undefined;
  const own = matcher === undefined || matcher === '*' ? path : prefixOf(matcher);
  // A route inside a route would have to match both.
  if (own === undefined || (own !== path && path !== '/')) return words.join(' ');
  if (name === 'handle' || name === 'handle_path' || name === 'route') {
    const stripped =
      name === 'handle_path' ? ['Caddy strips this path before the upstream; here the upstream gets it whole'] : [];
    return readSite(block ?? [], own, routes, { ...around, notes: [...around.notes, ...stripped] });
  }
  if (name !== 'reverse_proxy') return words.join(' ');
  const [first, ...others] = args.slice(matcher === undefined ? 0 : 1);
  const upstream = first === undefined ? undefined : upstreamOf(first);
  if (upstream === undefined || routes.has(own)) return words.join(' ');
  const notes = [...around.notes, ...(block ?? []).map((each) => `reverse_proxy: ${each.words.join(' ')}: not mapped`)];
  if (others.length > 0) notes.push(`only the first upstream, without ${others.join(', ')}: a backend has one address`);
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
