const escapes: ReadonlyMap<string, string> = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** The text as it is written in an expression. */
export function quotedText(text: string): string {
  return `"${Array.from(text.toWellFormed(), (each) => escapes.get(each) ?? each).join('')}"`;
}
