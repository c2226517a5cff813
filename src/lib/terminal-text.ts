import { randomUUID } from 'node:crypto';

/** Stands for the start of a control sequence until the text is printed; nobody else can know it. */
const mark = `\u0001${randomUUID()}`;

/**
 * Characters that nobody sees, and that change how a terminal shows those around them: marks of direction, ends of lines and
 * paragraphs, invisible ones and annotations. All have four digits.
 */
const unseen = /[\p{Bidi_Control}\p{Zl}\p{Zp}\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]/u;
const forTerminal =
  /\r(?!\n)|[^\P{Cc}\r\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]/gu;
const forLine = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]/gu;

/** A control sequence of our own, such as `K` or `32m`, for a text that is printed by way of `toTerminal`. */
export function controlSequence(code: string): string {
  return `${mark}${code}`;
}

/**
 * The text as it is printed, whoever wrote it: control characters other than line ends and tabs, and unseen ones that change
 * how others are shown, are written as `\u001b`,
 * which says the same inside the quotes of JSON and YAML. Only sequences made by `controlSequence` reach the terminal.
 */
export function toTerminal(text: string): string {
  return text
    .split(mark)
    .map((part) => part.replaceAll(forTerminal, escapeCharacter))
    .join('\u001b[');
}

/** A value of others as a part of one line. */
export function oneLine(text: string): string {
  return text.replaceAll(forLine, escapeCharacter);
}

/**
 * JSON in which no text holds a control character any more, also none that is escaped, for those who print its texts;
 * line ends are kept.
 */
export function withPrintableTexts(json: string): string {
  return toTerminal(json).replaceAll(/\\(?:u[\da-f]{4}|.)/gi, (escape) =>
    /^\\(?:u00(?:[01]|7f|[89])|[bfr])/i.test(escape) || isUnseen(escape) ? `\\${escape}` : escape,
  );
}

/** True for text with characters that `toTerminal` escapes and YAML writes as they are, unless it is in double quotes. */
export function hasUnseen(text: string): boolean {
  return unseen.test(text);
}

function isUnseen(escape: string): boolean {
  return escape.length === 6 && hasUnseen(String.fromCharCode(Number.parseInt(escape.slice(2), 16)));
}

function escapeCharacter(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
