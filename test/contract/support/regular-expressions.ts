import { parseAst } from 'rolldown/parseAst';

/** A regular expression of a source file. */
export interface FoundExpression {
  /** Path from the root of the repository, and line. */
  readonly place: string;
  /** As it would be written between slashes; undefined where it is put together when the program runs. */
  readonly source: string | undefined;
  readonly flags: string;
  /** The code that makes it. */
  readonly code: string;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number };

/** Methods that make a regular expression of a text. */
const matchers: ReadonlySet<unknown> = new Set(['match', 'matchAll', 'search']);

/** Finds literals, calls of `RegExp`, texts given to `match` and the like, and patterns of schemas, which Ajv compiles with the flag u. */
export function findExpressions(path: string, text: string): readonly FoundExpression[] {
  const found: FoundExpression[] = [];
  const add = (node: Node, source: string | undefined, flags: string) => {
    const line = text.slice(0, node.start).split('\n').length;
    found.push({ place: `${path}:${line}`, source, flags, code: text.slice(node.start, node.end) });
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    if (!isNode(value)) return;
    readNode(value, add);
    for (const [name, child] of Object.entries(value)) if (name !== 'parent') visit(child);
  };
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path));
  return found;
}

type Add = (node: Node, source: string | undefined, flags: string) => void;

function readNode(node: Node, add: Add): void {
  if (node.type === 'Literal' && isRecord(node['regex'])) {
    add(node, String(node['regex']['pattern']), String(node['regex']['flags']));
  } else if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    readCall(node, add);
  } else if (node.type === 'Property' && nameOf(node['key']) === 'pattern' && isNode(node['value'])) {
    const source = textOf(node['value']);
    if (source !== undefined || node['value'].type === 'TemplateLiteral') add(node['value'], source, 'u');
  }
}

function readCall(node: Node, add: Add): void {
  const { callee } = node;
  const [first, second] = Array.isArray(node['arguments']) ? (node['arguments'] as readonly unknown[]) : [];
  if (!isNode(callee)) return;
  if (nameOf(callee) === 'RegExp') {
    const flags = second === undefined ? '' : textOf(second);
    add(node, flags === undefined ? undefined : textOf(first), flags ?? '');
  } else if (callee.type === 'MemberExpression' && matchers.has(nameOf(callee['property']))) {
    const source = textOf(first);
    if (source !== undefined) add(node, source, '');
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** The name of an identifier, or the text of a key. */
function nameOf(node: unknown): unknown {
  return isNode(node) ? (node['name'] ?? node['value']) : undefined;
}

/** The value of a text that stands in the code; undefined for one that is put together. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  const { quasis } = node;
  if (node.type !== 'TemplateLiteral' || !Array.isArray(quasis) || quasis.length !== 1) return undefined;
  const [only] = quasis as readonly unknown[];
  const value = isRecord(only) && isRecord(only['value']) ? only['value']['cooked'] : undefined;
  return typeof value === 'string' ? value : undefined;
}
