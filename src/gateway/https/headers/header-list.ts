/** Functions on lists of headers: name, value, name, value, … */

/** Writes header lines, each with its line end. */
export function formatHeaders(list: readonly string[]): string {
  let text = '';
  for (let at = 0; at < list.length; at += 2) text += `${list[at]}: ${list[at + 1]}\r\n`;
  return text;
}

/** Returns the value of the first header of this name, which is given in lower case. */
export function findHeader(headers: readonly string[], lowerName: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) return headers[at + 1];
  }
  return undefined;
}
