/** Parses JSON, and tells whether each object has each key once. Undefined: it is no JSON. */
export function parseUniqueJson(text: string): { readonly value: unknown; readonly isUnique: boolean } | undefined {
  let entries = 0;
  let value: unknown;
  try {
    value = JSON.parse(text, (_key: string, each: unknown) => {
      if (typeof each === 'object' && each !== null && !Array.isArray(each)) entries += Object.keys(each).length;
      return each;
    });
  } catch {
    return undefined;
  }
  return { value, isUnique: countColons(text) === entries };
}

/** Colons outside of texts: JSON has one for each entry of an object. */
function countColons(json: string): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (isInText && character === '\\') at++;
    else if (character === '"') isInText = !isInText;
    else if (character === ':' && !isInText) count++;
  }
  return count;
}
