/** Expressions of the `filter` that lists of the API take. */

/** True for entries that have the word in one of these texts, in upper or lower case. */
export function textHas(...fields: readonly string[]): (word: string) => string {
  return (word) => fields.map((field) => `obj.${field}.lowerAscii().contains(${quote(lowerAscii(word))})`).join(' || ');
}

export function equals(field: string): (value: string) => string {
  return (value) => `obj.${field} == ${quote(value)}`;
}

export function isOneOf(field: string, values: readonly string[]): string {
  return `obj.${field} in [${values.map(quote).join(', ')}]`;
}

/** All of them; undefined where there is none. */
export function allOf(filters: readonly string[]): string | undefined {
  return filters.length === 0 ? undefined : filters.map((each) => `(${each})`).join(' && ');
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Lowers as the server does: other letters than those of ASCII are compared as they are. */
function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
