import { toTerminal } from '../../lib/terminal-text.ts';
import { toPrintableYaml } from './printable-yaml.ts';

interface Entry {
  readonly kind: string;
  readonly name: string;
}

/** The text of a file that declares the entries, in the order in which they come. */
export function toYaml(entries: readonly Entry[], url: string): string {
  const head = [
    `# yaml-language-server: $schema=${url}/configuration.schema.json`,
    `# Configuration of ${url}, by "gatehouse export". Keys, passwords of modules and values in vaults are left out.`,
    '# Traffic policies, headers and bodies are as they were given: keep the file private if passwords or tokens are written in them.',
    '# Apply it with "gatehouse apply FILE". Entries are known by their names; a field that is left out takes its default.',
  ];
  const sections = new Map<string, Record<string, unknown>>();
  for (const { kind, name, ...fields } of entries) {
    const section = sections.get(kind) ?? {};
    sections.set(kind, section);
    section[name] = fields;
  }
  const parts = [...sections].map(([kind, section]) => toPrintableYaml({ [kind]: section }));
  return `${toTerminal(head.join('\n'))}\n\n${parts.join('\n')}`;
}
