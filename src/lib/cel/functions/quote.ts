/** Signs with what is written for them: the backslash first, because the others have one. */
const escapes = [
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['"', '\\"'],
] as const;

/** The text as it is written in an expression. */
export function quotedText(text: string): string {
  return `"${escapes.reduce((all, [sign, written]) => all.replaceAll(sign, written), text.toWellFormed())}"`;
}
