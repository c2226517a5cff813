import type { Host } from '../command-line/host.ts';

const codes = { green: 32, yellow: 33, red: 31, grey: 90 } as const;

export type Colour = keyof typeof codes;

/** Colours a text, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

/** Colour only on a terminal whose user has not asked for none (https://no-color.org). */
export function painter({ stdout, env }: Pick<Host, 'stdout' | 'env'>): Paint {
  const isColoured = stdout.isTTY && !env['NO_COLOR'];
  return isColoured ? (colour, text) => `\u001b[${codes[colour]}m${text}\u001b[0m` : (_colour, text) => text;
}

/** Control characters of a value must not reach the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

export function writeLines({ stdout }: Pick<Host, 'stdout'>, lines: readonly string[]): void {
  stdout.write(`${lines.join('\n')}\n`);
}
