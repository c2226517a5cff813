import type { Node } from '../../../lib/cel/tree.ts';

/** What a condition demands of host and path before it can be true; undefined: nothing that an index knows. */
export interface RuleKey {
  readonly host: string | undefined;
  readonly path: PathKey | undefined;
}

export interface PathKey {
  readonly text: string;
  /** True: paths that begin with it. */
  readonly isPrefix: boolean;
}

export const noKey: RuleKey = { host: undefined, path: undefined };

/** Reads `req.url.path == '…'`, `req.url.path.startsWith('…')`, `req.host == '…'`, and `&&` of these with anything. */
export function keyOf(node: Node): RuleKey {
  switch (node.kind) {
    case 'all':
      // One operand that is false makes the whole false, whatever becomes of the others.
      return node.of.map(keyOf).reduce(joinKeys, noKey);
    case 'compare':
      return node.operator === '==' ? equality(node.left, node.right) : noKey;
    case 'call': {
      const [start, ...more] = node.items;
      const text = start === undefined || more.length > 0 ? undefined : textOf(start);
      const isStart = node.name === 'startsWith' && node.of !== undefined && isPath(node.of);
      return isStart && text !== undefined ? { host: undefined, path: { text, isPrefix: true } } : noKey;
    }
    default:
      return noKey;
  }
}

/** The key of two conditions that must both be true. */
export function joinKeys(one: RuleKey, other: RuleKey): RuleKey {
  return { host: one.host ?? other.host, path: narrower(one.path, other.path) };
}

function narrower(one: PathKey | undefined, other: PathKey | undefined): PathKey | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (!one.isPrefix) return one;
  return !other.isPrefix || other.text.length > one.text.length ? other : one;
}

function equality(left: Node, right: Node): RuleKey {
  const [named, text] = left.kind === 'literal' ? [right, textOf(left)] : [left, textOf(right)];
  if (text === undefined) return noKey;
  if (isPath(named)) return { host: undefined, path: { text, isPrefix: false } };
  return isMember(named, 'host', isRequest) ? { host: text, path: undefined } : noKey;
}

function textOf(node: Node): string | undefined {
  return node.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;
}

function isPath(node: Node): boolean {
  return isMember(node, 'path', isUrl);
}

function isUrl(node: Node): boolean {
  return isMember(node, 'url', isRequest);
}

/** No macro around it gives the name to something else: a condition begins with it. */
function isRequest(node: Node): boolean {
  return node.kind === 'name' && node.name === 'req';
}

function isMember(node: Node, name: string, isOf: (of: Node) => boolean): boolean {
  return node.kind === 'member' && node.name === name && isOf(node.of);
}
