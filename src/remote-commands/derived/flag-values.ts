import { readFileSync } from 'node:fs';

import { CommandFault } from '../exit.ts';
import type { Flag } from './flags.ts';

/** The value of a flag as the body holds it. Throws a `CommandFault` that names the flag. */
export function parseValue(flag: Flag, text: string): unknown {
  const fault = (words: string) => new CommandFault(`--${flag.name} ${words}, not ${JSON.stringify(text)}`);
  if (flag.choices !== undefined && !flag.choices.includes(text))
    throw fault(`takes one of ${flag.choices.join(', ')}`);
  if (flag.kind === 'text') return readText(flag, text);
  const parsed = parsers[flag.kind](text);
  if (parsed === undefined) throw fault(`takes ${forms[flag.kind]}`);
  return parsed;
}

const forms = {
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  json: 'JSON',
  map: 'key=value, or JSON',
} as const;

/** Each returns undefined for a text that is not of its form. */
const parsers: Readonly<Record<keyof typeof forms, (text: string) => unknown>> = {
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : undefined),
  number: (text) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  json: parseJson,
  map: parsePair,
};

/** Puts all values of a flag into the body. */
export function setField(
  body: Record<string, unknown>,
  { path, repeats, kind }: Flag,
  values: readonly unknown[],
): void {
  let at = body;
  for (const name of path.slice(0, -1)) {
    const inner = at[name];
    // Fields from a file or a flag of the whole are kept beside the fields that other flags name.
    const next = { ...(typeof inner === 'object' && inner !== null ? inner : {}) };
    at[name] = next;
    at = next;
  }
  const last = path.at(-1) ?? '';
  if (kind === 'map') at[last] = Object.fromEntries(values.flatMap((each) => Object.entries(each ?? {})));
  else at[last] = repeats ? values : values.at(-1);
}

/** `@FILE` stands for the text of a file, such as a certificate; `@@` for a value that begins with `@`. */
function readText({ name }: Flag, text: string): string {
  if (!text.startsWith('@')) return text;
  if (text.startsWith('@@')) return text.slice(1);
  try {
    return readFileSync(text.slice(1), 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFault(
      `--${name}: the file ${text.slice(1)} cannot be read: ${reason}. A value that begins with @ is written with @@`,
    );
  }
}

function parsePair(text: string): object | undefined {
  const whole = text.startsWith('{') ? parseJson(text) : undefined;
  if (typeof whole === 'object' && whole !== null) return whole;
  const at = text.indexOf('=');
  return at < 1 ? undefined : { [text.slice(0, at)]: text.slice(at + 1) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
