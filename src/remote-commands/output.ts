import type { Host } from '../command-line/host.ts';
import { controlSequence } from '../lib/terminal-text.ts';

const codes = { green: 32, yellow: 33, red: 31, grey: 90 } as const;

export type Colour = keyof typeof codes;

/** Colours a text, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

/** Colour only on a terminal that has some, and whose user has not asked for none (https://no-color.org). */
export function painter({ stdout, env }: Pick<Host, 'stdout' | 'env'>): Paint {
  const isColoured = stdout.isTTY && env['TERM'] !== 'dumb' && !env['NO_COLOR'];
  return isColoured
    ? (colour, text) => controlSequence(`${codes[colour]}m`) + text + controlSequence('0m')
    : (_colour, text) => text;
}

export function writeLines({ stdout }: Pick<Host, 'stdout'>, lines: readonly string[]): void {
  stdout.write(`${lines.join('\n')}\n`);
}
