/**
 * Characters that cannot be seen, or that change how the text around them reads: controls, marks of direction, separators of
 * lines, and letters that have no shape.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]/gu;

/** Writes out what a visitor has sent, so that nothing in it hides: a mark of direction reads `\u{202e}`. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
