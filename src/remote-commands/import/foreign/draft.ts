import { oneLine } from '../../../lib/terminal-text.ts';
import { toPrintableYaml } from '../../files/printable-yaml.ts';

/** Modules of a route, as a configuration file has them. */
export type RouteFields = Readonly<Record<string, unknown>>;

interface DraftRoute {
  readonly path: string;
  readonly fields: RouteFields;
  readonly notes: readonly Note[];
}

export interface WeightedAddress {
  readonly address: string;
  readonly weight?: number;
}

/** Something that is not taken over, with its line. */
export interface Note {
  readonly text: string;
  readonly line: number | undefined;
}

/** A configuration file in the making: what maps, and a comment for what does not. */
export class Draft {
  readonly #backends = new Map<string, { readonly name: string; readonly fields: object }>();
  readonly #policies = new Map<string, { readonly name: string; readonly rules: readonly string[] }>();
  readonly #names = { backends: new FreeNames(), policies: new FreeNames() };
  readonly #edges = new Map<string, Map<string, DraftRoute>>();
  readonly #notes: Note[] = [];

  note(text: string, line: number | undefined): void {
    this.#notes.push({ text, line });
  }

  /** Everything that is not taken over, in the order of its lines. */
  notTaken(): readonly string[] {
    const ofRoutes = [...this.#edges].flatMap(([host, routes]) =>
      [...routes.values()].flatMap(({ path, notes }) =>
        notes.map(({ text, line }) => ({ text: `${host}${path}: ${text}`, line })),
      ),
    );
    const all = [...this.#notes, ...ofRoutes].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
    return all.map((note) => oneLine(withLine(note)));
  }

  /** Returns the name of the backend with these addresses and settings, of which the first is the name's. */
  backend(addresses: readonly WeightedAddress[], tls: boolean, settings: object = {}): string {
    const [first, ...others] = addresses;
    const where = others.length === 0 ? { address: first?.address } : { addresses };
    const fields = { ...where, ...(tls ? { tls: { enabled: true } } : {}), ...settings };
    const key = JSON.stringify(fields);
    const made = this.#backends.get(key) ?? {
      name: this.#names.backends.take(first?.address ?? ''),
      fields,
    };
    this.#backends.set(key, made);
    return made.name;
  }

  /** Returns the name of the policy with these rules. */
  policy(wanted: string, rules: readonly string[]): string {
    const key = rules.join(' ');
    const made = this.#policies.get(key) ?? { name: this.#names.policies.take(wanted), rules };
    this.#policies.set(key, made);
    return made.name;
  }

  /** False if the host has a route with this path already. */
  route(host: string, path: string, fields: RouteFields, notes: readonly Note[]): boolean {
    const routes = this.#edges.get(host) ?? new Map<string, DraftRoute>();
    this.#edges.set(host, routes);
    if (routes.has(path)) return false;
    routes.set(path, { path, fields, notes });
    return true;
  }

  /** A comment that spans lines would let its rest count as configuration. */
  toYaml(source: string): string {
    const lines = [
      `# Made from ${oneLine(source)} by "gatehouse import". Read the comments, then: gatehouse plan FILE`,
      ...this.#notes.map((note) => `# NOT MAPPED: ${oneLine(withLine(note))}`),
    ];
    if (this.#policies.size > 0) lines.push('ip_policies:');
    for (const { name, rules } of this.#policies.values())
      for (const line of indented({ [name]: { rules } }, 2)) lines.push(line);
    if (this.#backends.size > 0) lines.push('static_backends:');
    for (const { name, fields } of this.#backends.values()) lines.push(...indented({ [name]: fields }, 2));
    if (this.#edges.size > 0) lines.push('https_edges:');
    for (const [host, routes] of this.#edges) {
      lines.push(`  ${nameFrom(host)}:`, ...indented({ hostports: [`${host}:443`] }, 4), '    routes:');
      for (const { path, fields, notes } of routes.values())
        lines.push(...notes.map((note) => `      # ${oneLine(withLine(note))}`), ...indented({ [path]: fields }, 6));
    }
    return `${lines.join('\n')}\n`;
  }
}

function withLine({ text, line }: Note): string {
  return line === undefined ? text : `line ${line}: ${text}`;
}

function indented(value: object, by: number): readonly string[] {
  return toPrintableYaml(value)
    .trimEnd()
    .split('\n')
    .map((line) => ' '.repeat(by) + line);
}

/** Gives each a name of its own, with a number behind it where another has the same. */
class FreeNames {
  readonly #taken = new Set<string>();
  /** The last number that was tried, by the name before it. */
  readonly #counts = new Map<string, number>();

  take(wanted: string): string {
    const base = nameFrom(wanted);
    let name = base;
    let count = this.#counts.get(base) ?? 1;
    while (this.#taken.has(name)) name = `${base}-${(count += 1)}`;
    this.#counts.set(base, count);
    this.#taken.add(name);
    return name;
  }
}

/** Names have letters, digits, `.`, `_` and `-`. */
function nameFrom(text: string): string {
  return (
    text
      .replaceAll('*', 'any')
      .replaceAll(/[^\w.-]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 90) || 'entry'
  );
}

/** An address with its mask, as rules have it; undefined for what is none. */
export function toCidr(text: string): string | undefined {
  if (!/^[\da-f.:]+(?:\/\d+)?$/i.test(text)) return undefined;
  if (text.includes('/')) return text;
  return text.includes(':') ? `${text}/128` : `${text}/32`;
}

/** True for a host name that an edge can have. */
export function isHost(text: string): boolean {
  return /^(?:\*\.)?[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(text) && /[a-z]/i.test(text);
}
