import { PatternFault, Regex } from '../../../lib/regex/regex.ts';
import type { UserError } from '../../../errors/user-error.ts';
import { ExpressionFault } from '../../../lib/cel/syntax-fault.ts';
import { childrenOf } from '../../../lib/cel/tree.ts';
import type { Node } from '../../../lib/cel/tree.ts';
import type { NamedSecret } from '../../module.ts';

/** A server that a rule asks, which the operator must have named. */
interface NamedServer {
  readonly path: string;
  readonly url: URL;
}

/** What the expressions of a policy go by, as far as somebody must know it before a visit. */
export interface Reads {
  /** Headers of requests: an upstream must see the same ones. */
  headers: boolean;
  /** The path, which upstreams may read in other ways. */
  path: boolean;
  /** Random numbers. */
  chance: boolean;
  /** The token that a provider has signed about a visitor. */
  identityToken: boolean;
  /** Secrets, whatever names them. */
  vaults: boolean;
  /** Secrets that are named in so many words. */
  readonly secrets: NamedSecret[];
  /** The first refusal of a policy that goes by places of visitors: there may be no database of them. */
  readonly places: { refusal: UserError | undefined };
  /** Servers outside that are written out, with the paths of their URLs. */
  readonly servers: NamedServer[];
  /** Names of variables. */
  readonly vars: Set<string>;
  /** Names of variables that are made of the path. */
  readonly pathVars: Set<string>;
  /** Regular expressions that are written out. */
  readonly patterns: { steps: number };
  /** Estimate of what the policy takes once it is built. */
  readonly memory: { bytes: number };
}

/**
 * What the parts of a policy take once they are built, in bytes, with what leads to them: closures with what they see, texts, values.
 * `policy-memory.test.ts` holds that it is no less than what is measured.
 */
export const bytesOf = {
  policy: 2_048,
  rule: 512,
  action: 1_024,
  /** A condition, or an expression in a config. */
  expression: 640,
  /** An operator, a call or a value of an expression. */
  node: 128,
  /** A name below another one: both are one. */
  member: 32,
  /** A value that stands in a list. */
  item: 64,
  /** A step of a regular expression. */
  step: 48,
};

/** Most steps of all regular expressions of a policy. They take room in every process, whether a visit comes to them or not. */
export const mostPatternSteps = 100_000;

/** Nothing has been read so far. `shared`: what a part of the policy shares with the rest. */
export function newReads(
  shared?: Pick<Reads, 'secrets' | 'places' | 'servers' | 'patterns' | 'memory' | 'pathVars'>,
): Reads {
  const {
    secrets = [],
    places = { refusal: undefined },
    servers = [],
    patterns = { steps: 0 },
    memory = { bytes: 0 },
    pathVars = new Set<string>(),
  } = shared ?? {};
  return {
    headers: false,
    path: false,
    chance: false,
    identityToken: false,
    vaults: false,
    secrets,
    places,
    servers,
    patterns,
    memory,
    vars: new Set(),
    pathVars,
  };
}

/** Adds what a part of the policy reads to what the rest does. */
export function addReads(reads: Reads, part: Reads): void {
  reads.headers ||= part.headers;
  reads.path ||= part.path;
  reads.chance ||= part.chance;
  reads.identityToken ||= part.identityToken;
  reads.vaults ||= part.vaults;
}

/** True where a part of the policy goes by a variable that is made of the path. */
export function readsPathVar({ vars, pathVars }: Reads): boolean {
  return [...vars].some((name) => pathVars.has(name));
}

const ofHeaders: ReadonlySet<string> = new Set([
  'headers',
  'cookies',
  'content_type',
  'content_encoding',
  'content_length',
  'user_agent',
  'location',
]);
const headerFunctions: ReadonlySet<string> = new Set(['getReqHeader', 'hasReqHeader', 'getReqCookie', 'hasReqCookie']);
/** Parts of the URL that have no path in them. */
const pathless: ReadonlySet<string> = new Set(['scheme', 'authority', 'host', 'port', 'query', 'query_params']);

/** Notes what an expression reads. `refuse` makes an error of a fault in it. */
export function noteReads(root: Node, reads: Reads, refuse: (fault: ExpressionFault) => UserError): void {
  const left = [root];
  reads.memory.bytes += bytesOf.expression;
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    reads.memory.bytes += memoryOf(node);
    reads.places.refusal ??= placeFault(node, refuse);
    if (node.kind === 'member' && node.of.kind === 'name' && node.of.name === 'vars') reads.vars.add(node.name);
    if (node.kind === 'member' && node.of.kind === 'name' && node.of.name === 'req') {
      if (ofHeaders.has(node.name)) reads.headers = true;
      if (node.name === 'url') reads.path = true;
    } else if (namesIdentityToken(node)) reads.identityToken = true;
    else if (node.kind === 'member' && isUrl(node.of) && pathless.has(node.name)) continue;
    else if (node.kind === 'call') noteCall(node, reads);
    left.push(...childrenOf(node));
  }
}

const noPlaces = 'there is no database of places; the operator names one with GATEHOUSE_GEO_DATABASE';

/** What refuses the place of a visitor where there is no database; undefined for other names. */
function placeFault(node: Node, refuse: (fault: ExpressionFault) => UserError): UserError | undefined {
  if (node.kind !== 'member' || node.name !== 'geo') return undefined;
  const { of, at } = node;
  const isOfAddress = of.kind === 'member' && of.name === 'client_ip';
  const root = isOfAddress ? of.of : of;
  if (root.kind !== 'name' || root.name !== 'conn') return undefined;
  return refuse(new ExpressionFault(at, `conn.${isOfAddress ? 'client_ip.' : ''}geo is not offered here: ${noPlaces}`));
}

/** Without what is below it, but for values of a list, which are kept as they are. */
function memoryOf(node: Node): number {
  switch (node.kind) {
    case 'member':
      return bytesOf.member;
    case 'literal':
      return bytesOf.node + lengthOf(node);
    case 'list':
      return node.items.reduce(
        (sum, item) => sum + (item.kind === 'literal' ? bytesOf.item - bytesOf.node : 0),
        bytesOf.node,
      );
    case 'map':
      return bytesOf.node + node.entries.length * bytesOf.item;
    default:
      return bytesOf.node;
  }
}

function lengthOf({ value }: Extract<Node, { readonly kind: 'literal' }>): number {
  return typeof value === 'string' ? value.length * 2 : value instanceof Uint8Array ? value.length : 0;
}

function namesIdentityToken(node: Node): boolean {
  const name = node.kind === 'member' ? node.name : node.kind === 'literal' ? node.value : undefined;
  return name === 'identity_token';
}

function isUrl(node: Node): boolean {
  return node.kind === 'member' && node.name === 'url' && node.of.kind === 'name' && node.of.name === 'req';
}

function noteCall({ name, of, items }: Extract<Node, { readonly kind: 'call' }>, reads: Reads): void {
  if (headerFunctions.has(name)) reads.headers = true;
  if (of?.kind === 'name' && of.name === 'rand') reads.chance = true;
  if (name === 'matches') notePattern(items.at(-1), reads);
  if (name !== 'get' || of?.kind !== 'name' || of.name !== 'secrets') return;
  reads.vaults = true;
  const [vault, secret] = items.map((item) => (item.kind === 'literal' ? item.value : undefined));
  if (typeof vault === 'string' && typeof secret === 'string') reads.secrets.push({ vault, name: secret });
}

function notePattern(node: Node | undefined, { patterns, memory }: Reads): void {
  if (node?.kind !== 'literal' || typeof node.value !== 'string') return;
  const steps = sizeOf(node.value);
  patterns.steps += steps;
  memory.bytes += steps * bytesOf.step;
  if (patterns.steps > mostPatternSteps) {
    const reason = `the regular expressions of the policy have more than ${mostPatternSteps} steps together`;
    throw new ExpressionFault(node.at, `${reason}; use fewer, shorter or less repeated ones`);
  }
}

/** None where the pattern is no regular expression, which is told when it is compiled. */
function sizeOf(pattern: string): number {
  try {
    return new Regex(pattern).size;
  } catch (error) {
    if (error instanceof PatternFault) return 0;
    throw error;
  }
}
