import { stringify } from 'yaml';

import { oneLine } from '../../../lib/terminal-text.ts';
import { escapeVariables } from '../../files/variables.ts';

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
  readonly #edges = new Map<string, DraftRoute[]>();
  readonly #notes: Note[] = [];

  note(text: string, line: number | undefined): void {
    this.#notes.push({ text, line });
  }

  /** Everything that is not taken over, in the order of its lines. */
  notTaken(): readonly string[] {
    const ofRoutes = [...this.#edges].flatMap(([host, routes]) =>
      routes.flatMap(({ path, notes }) => notes.map(({ text, line }) => ({ text: `${host}${path}: ${text}`, line }))),
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
      name: freeName(first?.address ?? '', this.#backends.values()),
      fields,
    };
    this.#backends.set(key, made);
    return made.name;
  }

  /** Returns the name of the policy with these rules. */
  policy(wanted: string, rules: readonly string[]): string {
    const key = rules.join(' ');
    const made = this.#policies.get(key) ?? { name: freeName(wanted, this.#policies.values()), rules };
    this.#policies.set(key, made);
    return made.name;
  }

  /** False if the host has a route with this path already. */
  route(host: string, path: string, fields: RouteFields, notes: readonly Note[]): boolean {
    const routes = this.#edges.get(host) ?? [];
    if (routes.some((each) => each.path === path)) return false;
    this.#edges.set(host, [...routes, { path, fields, notes }]);
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
      for (const { path, fields, notes } of routes)
        lines.push(...notes.map((note) => `      # ${oneLine(withLine(note))}`), ...indented({ [path]: fields }, 6));
    }
    return `${lines.join('\n')}\n`;
  }
}

function withLine({ text, line }: Note): string {
  return line === undefined ? text : `line ${line}: ${text}`;
}

function indented(value: object, by: number): readonly string[] {
  const text = stringify(escaped(value), { lineWidth: 0 });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => ' '.repeat(by) + line);
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]: [string, unknown]) => [key, escaped(each)]));
}

function freeName(wanted: string, taken: Iterable<{ readonly name: string }>): string {
  const names = new Set([...taken].map(({ name }) => name));
  const base = nameFrom(wanted);
  if (!names.has(base)) return base;
  let count = 2;
  while (names.has(`${base}-${count}`)) count += 1;
  return `${base}-${count}`;
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
