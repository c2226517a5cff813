import { Scalar, stringify } from 'yaml';

import { hasUnseen, toTerminal } from '../../lib/terminal-text.ts';
import { escapeVariables } from './variables.ts';

/** Writes a value as YAML that can be printed, and that says the same once it is read and its variables are filled in. */
export function toPrintableYaml(value: object): string {
  // In double quotes, the escaped form of a character is the same text. YAML puts texts with control characters into them.
  return toTerminal(stringify(quoted(value), { lineWidth: 0 }));
}

function quoted(value: unknown): unknown {
  if (typeof value === 'string') return quotedText(escapeVariables(value));
  if (Array.isArray(value)) return value.map(quoted);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, each]: [string, unknown]) => [quotedText(key), quoted(each)]));
}

function quotedText(text: string): string | Scalar<string> {
  if (!hasUnseen(text)) return text;
  const scalar = new Scalar(text);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}
