import { randomUUID } from 'node:crypto';

/** Stands for the start of a control sequence until the text is printed; nobody else can know it. */
const mark = `\u0001${randomUUID()}`;

/** A control sequence of our own, such as `K` or `32m`, for a text that is printed by way of `toTerminal`. */
export function controlSequence(code: string): string {
  return `${mark}${code}`;
}

/**
 * The text as it is printed, whoever wrote it: control characters other than line ends and tabs are written as `\u001b`,
 * which says the same inside the quotes of JSON and YAML. Only sequences made by `controlSequence` reach the terminal.
 */
export function toTerminal(text: string): string {
  return text
    .split(mark)
    .map((part) => part.replaceAll(/\r(?!\n)|[^\P{Cc}\r\n\t]/gu, escapeCharacter))
    .join('\u001b[');
}

/** A value of others as a part of one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, escapeCharacter);
}

/**
 * JSON in which no text holds a control character any more, also none that is escaped, for those who print its texts;
 * line ends are kept.
 */
export function withPrintableTexts(json: string): string {
  return toTerminal(json).replaceAll(/\\(?:u[\da-f]{4}|.)/gi, (escape) =>
    /^\\(?:u00(?:[01]|7f|[89])|[bfr])/i.test(escape) ? `\\${escape}` : escape,
  );
}

function escapeCharacter(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
