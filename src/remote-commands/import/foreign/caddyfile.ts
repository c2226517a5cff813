import { readBlocks } from './caddy-blocks.ts';
import type { Directive } from './caddy-blocks.ts';
import { CommandFault } from '../../exit.ts';
import { readCaddyHealth } from './caddy-health.ts';
import { Draft, isHost } from './draft.ts';
import type { Note } from './draft.ts';

/** Directives without which a site does less, and lets in nobody else. */
const harmless = new Set([
  'log',
  'log_append',
  'log_name',
  'log_skip',
  'tls',
  'root',
  'file_server',
  'php_fastcgi',
  'templates',
  'metrics',
  'tracing',
  'handle_errors',
]);

/** Directives that become modules of the routes around them. */
const inModules = new Set(['encode', 'header', 'request_header', 'uri']);

/** Turns the reverse proxies of a Caddyfile into a configuration file. */
export function fromCaddyfile(text: string, source: string): Draft {
  if (/^"?(?:_format_version|services|routes)"?:/m.test(text))
    throw new CommandFault(`${source} is no Caddyfile but, it seems, a file of Kong: give it with --kong`);
  if (/^\s*\{\s*"/.test(text))
    throw new CommandFault(`${source} is JSON, and no Caddyfile: give the Caddyfile that it was made from`);
  const draft = new Draft();
  const blocks = readBlocks(text, source);
  const snippets = new Map(blocks.filter(isSnippet).map((each) => [each.words[0]?.slice(1, -1) ?? '', each]));
  const used = new Set<string>();
  const expand = createExpansion(snippets, used, source);
  // A file of one site needs no braces: its first line has the addresses.
  const [first, ...rest] = blocks;
  const isBare = first !== undefined && first.block === undefined && first.words[0] !== 'import';
  for (const each of isBare ? [{ ...first, block: rest }] : blocks) {
    const { words, block = [], line } = each;
    if (isSnippet(each)) continue;
    if (words.length === 0)
      for (const option of block) draft.note(`global option ${option.words.join(' ')}`, option.line);
    else if (words[0] === 'import') draft.note(`${words.join(' ')}: other files are not read`, line);
    else {
      const addresses = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
      addSite(draft, addresses, expand(block, 0), line);
    }
  }
  for (const [name, { line }] of snippets)
    if (!used.has(name)) draft.note(`snippet (${name}): no site imports it`, line);
  return draft;
}

function isSnippet({ words }: Directive): boolean {
  return /^\(.+\)$/.test(words[0] ?? '');
}

/** Snippets in snippets, beyond which one that imports itself is suspected. */
const mostDepth = 10;

/** Lines of all sites, those of snippets as often as they are imported: snippets in snippets multiply. */
const mostLines = 50_000;

/** Puts the lines of snippets in the place of their imports. One with arguments, or of another file, stays an import. */
function createExpansion(snippets: ReadonlyMap<string, Directive>, used: Set<string>, source: string) {
  let lines = 0;
  return function expand(directives: readonly Directive[], depth: number): readonly Directive[] {
    const expanded: Directive[] = [];
    for (const directive of directives) {
      lines += 1;
      if (lines > mostLines)
        throw new CommandFault(`${source} has more than ${mostLines} lines, with those of its snippets: divide it`);
      const { words, block } = directive;
      const [name, what = '', ...args] = words;
      const snippet = name === 'import' && args.length === 0 && depth < mostDepth ? snippets.get(what) : undefined;
      if (name === 'import') used.add(what);
      if (snippet !== undefined) for (const each of expand(snippet.block ?? [], depth + 1)) expanded.push(each);
      else expanded.push(block === undefined ? directive : { ...directive, block: expand(block, depth) });
    }
    return expanded;
  };
}

function addSite(draft: Draft, addresses: readonly string[], directives: readonly Directive[], line: number): void {
  const routes = new Map<string, Route>();
  const fault = readSite(directives, '/', routes, { notes: [], modules: {} }) ?? hidden(routes);
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
        const backend = upstream && {
          backend: draft.backend(
            upstream.addresses.map((each) => ({ address: each })),
            upstream.tls,
            upstream.settings,
          ),
        };
        const fields = { ...(backend && { backend }), ...modules };
        if (!draft.route(host, path, fields, notes)) draft.note(`site ${host}: ${path} has a route already`, line);
      }
  }
}

function reasonOf({ words, block }: Directive): string {
  const [name] = words;
  const shown = block === undefined ? words.join(' ') : `${words.join(' ')} { … }`;
  if (name === 'import') return `${shown}: no snippet of this file without arguments; put its lines here`;
  if (name === 'reverse_proxy' || name === 'handle' || name === 'handle_path' || name === 'route')
    return `${shown}: not a path of the form /api/* with one plain upstream, or the path has a route already`;
  return `${shown}: a copy without it could let in more, or serve something else`;
}

interface Upstream {
  readonly addresses: readonly string[];
  readonly tls: boolean;
  /** How the addresses share the traffic and are watched, as a backend has it. */
  readonly settings: object;
}

interface Around {
  readonly notes: readonly Note[];
  readonly modules: Readonly<Record<string, unknown>>;
}

interface Route extends Around {
  /** Undefined for a redirect. */
  readonly upstream: Upstream | undefined;
  readonly directive: Directive;
}

/** A redirect below whose path another route lies: Caddy would redirect that too, and here the longer path goes first. */
function hidden(routes: ReadonlyMap<string, Route>): Directive | undefined {
  // In order, the paths below one follow it: the first that is not smaller says whether there is any.
  const paths = [...routes.keys()].toSorted(compare);
  for (const [path, { upstream, modules, directive }] of routes) {
    const below = path === '/' ? path : `${path}/`;
    if (
      upstream === undefined &&
      modules['match_type'] === undefined &&
      (path === '/' ? routes.size > 1 : firstFrom(paths, below)?.startsWith(below) === true)
    )
      return directive;
  }
  return undefined;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The first of sorted texts that is not smaller. */
function firstFrom(sorted: readonly string[], text: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return sorted[low];
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
    const { words, block, line } = directive;
    const [name = '', ...args] = words;
    // Clients without a certificate would be let in.
    if (name === 'tls' && block?.some((each) => each.words[0] === 'client_auth') === true) return directive;
    if (harmless.has(name)) notes.push({ text: `${words.join(' ')}: not mapped`, line });
    else if (name === 'encode') {
      modules['compression'] = {};
      const isPlain = block === undefined && args.every((each) => /^\w+$/.test(each));
      if (!isPlain) notes.push({ text: `${words.join(' ')}: compression has no options and no conditions here`, line });
    } else if (name === 'uri') {
      const [what, prefix = '', ...more] = args;
      const isPlain = what === 'strip_prefix' && more.length === 0 && /^\/[^*{}]*$/.test(prefix);
      if (!isPlain || block !== undefined || modules['path_rewrite'] !== undefined) return directive;
      modules['path_rewrite'] = { strip_prefix: prefix };
    } else if (name === 'header' || name === 'request_header') {
      for (const each of headerLines(directive)) {
        const headers = withHeader(modules[moduleOf(name)], each.words);
        // A header of requests may keep something out; one of responses does not.
        if (headers === undefined && name === 'request_header') return directive;
        if (headers === undefined) notes.push({ text: `${name} ${each.words.join(' ')}: not mapped`, line: each.line });
        else modules[moduleOf(name)] = headers;
      }
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
  if (harmless.has(name) || inModules.has(name)) return undefined;
  const matcher = /^[/*@]/.test(args[0] ?? '') ? args[0] : undefined;
  const isExact = name === 'redir' && matcher !== undefined && exactPath.test(matcher);
  const own = isExact ? matcher : matcher === undefined || matcher === '*' ? path : prefixOf(matcher);
  // A route inside a route would have to match both.
  if (own === undefined || (own !== path && path !== '/')) return directive;
  if (name === 'handle' || name === 'handle_path' || name === 'route') {
    if (name !== 'handle_path' || own === '/') return readSite(block ?? [], own, routes, around);
    const modules = { ...around.modules, path_rewrite: { strip_prefix: own } };
    return around.modules['path_rewrite'] === undefined
      ? readSite(block ?? [], own, routes, { ...around, modules })
      : directive;
  }
  if (name === 'redir') {
    const { path_rewrite: stripped, ...modules } = around.modules;
    const redirect = redirectOf(args.slice(matcher === undefined ? 0 : 1), stripped !== undefined);
    if (redirect === undefined || block !== undefined || routes.has(own)) return directive;
    const match = isExact ? { match_type: 'exact_path' } : {};
    routes.set(own, { ...around, modules: { ...match, ...modules, redirect }, upstream: undefined, directive });
    return undefined;
  }
  if (name !== 'reverse_proxy') return directive;
  const to = (block ?? []).filter((each) => each.words[0] === 'to');
  const given = [...args.slice(matcher === undefined ? 0 : 1), ...to.flatMap((each) => each.words.slice(1))];
  const upstreams = given.map(upstreamOf);
  const [first] = upstreams;
  if (first === undefined || routes.has(own)) return directive;
  const same = upstreams.filter((each) => each?.tls === first.tls).flatMap((each) => each?.address ?? []);
  const { settings, left } = readCaddyHealth((block ?? []).filter((each) => !to.includes(each)));
  const inside = left.map((each) => ({
    text: `reverse_proxy: ${each.words.join(' ')}: not mapped`,
    line: each.line,
  }));
  const notes = [...around.notes, ...inside];
  const others = given.filter((_, at) => upstreams[at]?.tls !== first.tls);
  if (others.length > 0)
    notes.push({ text: `without the upstreams ${others.join(', ')}: a backend has addresses of one kind`, line });
  const upstream = { addresses: [...new Set(same)], tls: first.tls, settings };
  routes.set(own, { ...around, notes, upstream, directive });
  return undefined;
}

const codes: Readonly<Record<string, number>> = { permanent: 301, temporary: 302 };

/** `to [code]`, where the path of the request may stand at the end; undefined for what else Caddy would fill in. */
function redirectOf(
  [to = '', code = 'temporary', ...more]: readonly string[],
  isStripped: boolean,
): object | undefined {
  const [, base = '', uri] = /^([^{}]*?)(\{uri\})?$/.exec(to) ?? [];
  const status = codes[code] ?? (/^30[12378]$/.test(code) ? Number(code) : undefined);
  const isPlace = /^(?:https?:\/\/[^/\\@]+(?:\/[^\\]*)?|\/(?:[^/\\][^\\]*)?)$/i.test(base);
  // Caddy would append the path without what it has stripped.
  const isOther = uri !== undefined && (isStripped || /[?#]/.test(base) || base === '/');
  if (more.length > 0 || status === undefined || !isPlace || isOther) return undefined;
  return {
    to: base,
    ...(status === 302 ? {} : { status_code: status }),
    ...(uri === undefined ? {} : { keep_path: true }),
  };
}

/** A path that matches itself alone. */
const exactPath = /^(?:\/[\w.~!$&'(),=:@+-]+)+$/;

/** `/api/*` as the prefix `/api`; undefined for a named matcher and for patterns. */
function prefixOf(matcher: string): string | undefined {
  const prefix = matcher.replace(/\/\*$/, '') || '/';
  return /^\/[^*@{}]*$/.test(prefix) && prefix !== matcher ? prefix : undefined;
}

function upstreamOf(text: string): { readonly address: string; readonly tls: boolean } | undefined {
  const [, scheme = 'http', host = '', port] =
    /^(?:(https?):\/\/)?([\w.-]*|\[[\da-f:]+\])(?::(\d+))?$/i.exec(text) ?? [];
  if (host === '' && port === undefined) return undefined;
  const isTls = scheme === 'https';
  return { address: `${host || '127.0.0.1'}:${port ?? (isTls ? 443 : 80)}`, tls: isTls };
}

/** The header of the line itself, or those of its block, each without the name of the directive. */
function headerLines({ words, block, line }: Directive): readonly Pick<Directive, 'words' | 'line'>[] {
  const own = words.slice(1);
  // A condition before the block holds for all in it.
  const inBlock = (block ?? []).map((each) => ({ words: [...own, ...each.words], line: each.line }));
  return block === undefined ? [{ words: own, line }] : inBlock;
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
