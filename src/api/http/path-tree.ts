/** Values of the parameters of a path, by their names. */
export type PathParams = Readonly<Record<string, string>>;

interface Found<T> {
  readonly value: T;
  readonly params: PathParams;
}

interface Entry<T> {
  readonly value: T;
  /** Names of its parameters, in their order. */
  readonly names: readonly string[];
}

interface Node<T> {
  readonly words: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  /** Entry of everything below, where the path ends with `*`. */
  rest: Entry<T> | undefined;
  entry: Entry<T> | undefined;
}

/** Longer parameters are none that anything here has. */
export const maxParamLength = 500;

/** The start of a request target that names its host, which clients send to proxies. */
const origin = /^https?:\/\/[^/]*(?=\/)/;

/**
 * Values by path, such as `/edges/:id/routes` or `/files/*`. A word goes before a parameter. It is small for the sake of
 * the start: the router of the framework compiles a function for each part of each path.
 */
export class PathTree<T> {
  readonly #root = newNode<T>();

  add(path: string, value: T): void {
    const names: string[] = [];
    let node = this.#root;
    for (const part of path.slice(1).split('/')) {
      if (part === '*') {
        node.rest = { value, names };
        return;
      }
      if (part.startsWith(':')) {
        names.push(part.slice(1));
        node = node.parameter ??= newNode();
      } else {
        const next = node.words.get(part) ?? newNode();
        node.words.set(part, next);
        node = next;
      }
    }
    node.entry = { value, names };
  }

  /** Finds the path of a request target, whose query is ignored. */
  find(target: string): Found<T> | undefined {
    const parts = partsOf(target);
    const values: string[] = [];
    const entry = parts && search(this.#root, parts, 0, values);
    if (entry === undefined) return undefined;
    const params: Record<string, string> = {};
    for (const [at, name] of entry.names.entries()) params[name] = values[at] ?? '';
    return { value: entry.value, params };
  }
}

function newNode<T>(): Node<T> {
  return { words: new Map(), parameter: undefined, rest: undefined, entry: undefined };
}

/** Undefined for a target that is no path, and for one whose encoding is broken. */
function partsOf(target: string): readonly string[] | undefined {
  const path = target.startsWith('/') ? target : target.replace(origin, '');
  if (!path.startsWith('/')) return undefined;
  const end = path.search(/[?#]/);
  const parts = path.slice(1, end === -1 ? undefined : end).split('/');
  if (!path.includes('%')) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function search<T>(node: Node<T>, parts: readonly string[], at: number, values: string[]): Entry<T> | undefined {
  const part = parts[at];
  if (part === undefined) return node.entry;
  const word = node.words.get(part);
  const found = word && search(word, parts, at + 1, values);
  if (found !== undefined) return found;
  if (node.parameter !== undefined && part !== '' && part.length <= maxParamLength) {
    values.push(part);
    const below = search(node.parameter, parts, at + 1, values);
    if (below !== undefined) return below;
    values.pop();
  }
  return node.rest;
}
