import { ExpressionFault } from './syntax-fault.ts';
import type { Uint } from './values.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Arithmetic = '+' | '-' | '*' | '/' | '%';

/** A parsed expression. `at` is its place in the text, counted from 1. */
export type Node = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: string | number | boolean | bigint | Uint | Uint8Array | null }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: Node, value: Node])[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly of: Node; readonly name: string }
  | { readonly kind: 'index'; readonly of: Node; readonly index: Node }
  | { readonly kind: 'call'; readonly name: string; readonly of: Node | undefined; readonly items: readonly Node[] }
  | { readonly kind: 'not' | 'negate'; readonly of: Node }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Node; readonly right: Node }
  | { readonly kind: 'arithmetic'; readonly operator: Arithmetic; readonly left: Node; readonly right: Node }
  | { readonly kind: 'in'; readonly left: Node; readonly right: Node }
  | { readonly kind: 'choice'; readonly condition: Node; readonly yes: Node; readonly no: Node }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Node[] }
);

/** Levels of a tree: chains such as `a + b + c` make one level each. */
const deepest = 250;

export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'member':
    case 'not':
    case 'negate':
      return [node.of];
    case 'index':
      return [node.of, node.index];
    case 'call':
      return node.of === undefined ? node.items : [node.of, ...node.items];
    case 'compare':
    case 'arithmetic':
    case 'in':
      return [node.left, node.right];
    case 'choice':
      return [node.condition, node.yes, node.no];
    case 'all':
    case 'any':
      return node.of;
    default:
      return [];
  }
}

/** Refuses trees so deep that code which calls itself for each level could not walk them. */
export function checkDepth(root: Node): void {
  let level: readonly Node[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest)
      throw new ExpressionFault(level[0]?.at ?? 1, `it is nested deeper than ${deepest} levels; split it`);
    level = level.flatMap(childrenOf);
  }
}
