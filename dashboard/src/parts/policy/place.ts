/** Where the caret is in a policy: keys and list items around it, and whether a key or a value is written there. */
export interface Place {
  /** Keys from the top; `-` for an item of a list. */
  readonly path: readonly string[];
  readonly writes: 'key' | 'value';
  /** Where each part of the path begins in the text. */
  readonly starts: readonly number[];
  readonly isJson: boolean;
}

interface Level {
  readonly name: string;
  /** Column of the key or the dash. */
  readonly column: number;
  readonly start: number;
}

/** The place of the caret in YAML, with braces in it or not, or in JSON. Texts that are half written are read as far as they go. */
export function placeAt(text: string, caret: number): Place {
  const before = text.slice(0, caret);
  if (/^\s*[{[]/.test(text)) return { ...flowPlace(before, 0), isJson: true };
  const levels: Level[] = [];
  let start = 0;
  for (const line of before.split('\n')) {
    const isLast = start + line.length === before.length;
    const rest = readLine(line, start, levels, isLast);
    if (isLast) {
      const path = levels.map(({ name }) => name);
      const starts = levels.map((level) => level.start);
      const flowAt = rest.value?.search(/^\s*[{[]/) === 0 ? rest.valueAt : undefined;
      if (flowAt !== undefined) {
        const flow = flowPlace(before.slice(flowAt), flowAt);
        return {
          path: [...path, ...flow.path],
          starts: [...starts, ...flow.starts],
          writes: flow.writes,
          isJson: false,
        };
      }
      return { path, starts, writes: rest.value === undefined ? 'key' : 'value', isJson: false };
    }
    start += line.length + 1;
  }
  return { path: [], starts: [], writes: 'key', isJson: false };
}

/** Takes a line of YAML into the levels. Returns the beginning of a value that stands on it. */
function readLine(
  line: string,
  start: number,
  levels: Level[],
  isLast: boolean,
): { readonly value?: string; readonly valueAt: number } {
  let column = line.length - line.trimStart().length;
  if (!isLast && (line.trim() === '' || line.startsWith('#', column))) return { valueAt: start };
  while (/^-(?:\s|$)/.test(line.slice(column))) {
    while (levels.length > 0 && isInside(levels.at(-1), column, true)) levels.pop();
    levels.push({ name: '-', column, start: start + column });
    column += 1 + (/^\s*/.exec(line.slice(column + 1))?.[0].length ?? 0);
  }
  const [, quote = '', key, colon] = /^(["']?)([\w.-]+)\1(\s*:(?=\s|$))/.exec(line.slice(column)) ?? [];
  if (isLast || key !== undefined) while (levels.length > 0 && isInside(levels.at(-1), column, false)) levels.pop();
  if (key === undefined || colon === undefined) return { valueAt: start + column };
  levels.push({ name: key, column, start: start + column });
  const valueAt = column + key.length + quote.length * 2 + colon.length;
  return { value: line.slice(valueAt), valueAt: start + valueAt };
}

/** True for a level that a line at this column ends. */
function isInside(level: Level | undefined, column: number, isDash: boolean): boolean {
  if (level === undefined) return false;
  if (level.column > column) return true;
  return level.column === column && (level.name === '-') === isDash;
}

/** The place at the end of a text that begins with a bracket, in JSON or in YAML's own form of it. */
function flowPlace(text: string, offset: number): Omit<Place, 'isJson'> {
  const levels: { name: string; start: number; isList: boolean; key: string | undefined }[] = [];
  let word = '';
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const level = levels.at(-1);
    if (quote !== undefined) {
      if (char === '\\' && quote === '"') at++;
      else if (char === quote) quote = undefined;
      else word += char;
    } else if ((char === '"' || char === "'") && word.trim() === '') {
      quote = char;
      word = '';
    } else if (char === '{' || char === '[') {
      levels.push({
        name: level?.isList === true ? '-' : (level?.key ?? ''),
        start: offset + at,
        isList: char === '[',
        key: undefined,
      });
      word = '';
    } else if (char === '}' || char === ']') {
      levels.pop();
      word = '';
    } else if (char === ':' && level?.isList === false && level.key === undefined) {
      level.key = word.trim();
      word = '';
    } else if (char === ',') {
      if (level !== undefined) level.key = undefined;
      word = '';
    } else word += char;
  }
  const last = levels.at(-1);
  const names = levels.slice(1).map(({ name, start }) => [name, start] as const);
  const inner =
    last?.isList === true
      ? [['-', offset + text.length] as const]
      : last?.key === undefined
        ? []
        : [[last.key, offset + text.length] as const];
  const all = [...names, ...inner];
  return {
    path: all.map(([name]) => name),
    starts: all.map(([, start]) => start),
    writes: last?.isList === true || last?.key !== undefined ? 'value' : 'key',
  };
}
