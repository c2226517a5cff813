import { stringify } from 'yaml';

import { toTerminal } from '../../lib/terminal-text.ts';
import { escapeVariables } from './variables.ts';

interface Entry {
  readonly kind: string;
  readonly name: string;
}

/** The text of a file that declares the entries, in the order in which they come. */
export function toYaml(entries: readonly Entry[], url: string): string {
  const head = [
    `# yaml-language-server: $schema=${url}/configuration.schema.json`,
    `# Configuration of ${url}, by "gatehouse export". It holds no secrets: certificates are named, not contained.`,
    '# Apply it with "gatehouse apply FILE". Entries are known by their names; a field that is left out takes its default.',
  ];
  const sections = new Map<string, Record<string, unknown>>();
  for (const { kind, name, ...fields } of entries) {
    const section = sections.get(kind) ?? {};
    sections.set(kind, section);
    section[name] = escaped(fields);
  }
  const parts = [...sections].map(([kind, section]) => stringify({ [kind]: section }, { lineWidth: 0 }));
  // In the quotes in which YAML has control characters, their escaped form is the same text.
  return toTerminal(`${head.join('\n')}\n\n${parts.join('\n')}`);
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]: [string, unknown]) => [key, escaped(each)]));
}
