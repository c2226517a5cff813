import type { Command } from 'commander';

import type { Host } from '../command-line/host.ts';
import { checkQuery, explainMiss, query } from './query.ts';
import { drawDocument, drawRows } from './table.ts';

export interface OutputFlags {
  readonly output?: 'table' | 'json' | 'yaml';
  readonly query?: string;
}

export function addOutputOptions(command: Command): Command {
  const output = command
    .createOption('-o, --output <form>', 'form of the answer; without it a table on a terminal, else JSON')
    .choices(['table', 'json', 'yaml']);
  return command
    .addOption(output)
    .option('--query <path>', 'a part of the answer: name.name, [0], [*].id, [*].{id,description}', (path) => {
      checkQuery(path);
      return path;
    });
}

/** The form that was asked for, else one for people on a terminal and one for programs elsewhere. */
export function formOf({ output }: OutputFlags, stdout: Pick<Host['stdout'], 'isTTY'>): 'table' | 'json' | 'yaml' {
  return output ?? (stdout.isTTY ? 'table' : 'json');
}

/** The answer in the form that was asked for, as it is written to standard output. */
export async function formResult(
  value: unknown,
  flags: OutputFlags,
  { stdout, stderr }: Pick<Host, 'stdout' | 'stderr'>,
): Promise<string> {
  const part = flags.query === undefined ? value : query(value, flags.query);
  const miss = flags.query === undefined ? undefined : explainMiss(value, flags.query);
  if (miss !== undefined) stderr.write(`--query ${flags.query} finds nothing: ${miss}\n`);
  const plain = flags.query === undefined || flags.output !== undefined ? undefined : plainText(part);
  if (plain !== undefined) return plain;
  const form = formOf(flags, stdout);
  if (form === 'table') return `${draw(part, stdout.isTTY ? stdout.columns : undefined).join('\n')}\n`;
  if (form === 'json') return `${JSON.stringify(part, undefined, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(part, { lineWidth: 0 });
}

/** `columns`: width of the terminal, if it is one. */
function draw(value: unknown, columns: number | undefined): readonly string[] {
  if (Array.isArray(value)) return drawRows(value, columns);
  // Neither null nor a list.
  if (typeof value === 'object' && value !== null)
    return drawDocument(value as Readonly<Record<string, unknown>>, columns);
  return drawRows([value], columns);
}

/** A text, number or list of these as lines for a shell, such as `ID=$(gatehouse … --query id)`. */
function plainText(value: unknown): string | undefined {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (parts.some((part) => typeof part === 'object' && part !== null)) return undefined;
  const lines = parts.map((part) => (typeof part === 'string' ? part : part === null ? '' : JSON.stringify(part)));
  return lines.map((line) => `${line}\n`).join('');
}
