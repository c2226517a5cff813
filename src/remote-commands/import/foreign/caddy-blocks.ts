import { CommandFault } from '../../exit.ts';

/** A directive of a Caddyfile with its arguments, and what stands in its braces. */
export interface Directive {
  readonly words: readonly string[];
  readonly block: readonly Directive[] | undefined;
  readonly line: number;
}

/** Quotes, the start of a text between marks (`<<END`), comments, ends of lines, words. */
const token = /"(?:[^"\\]|\\.)*"|`[^`]*`|<<(\w+)\n|#[^\n]*|\n|[^\s"`#][^\s]*/g;

/** Blocks in blocks; Caddy's own files have three or four. */
const mostDepth = 100;

/** Reads the lines of a Caddyfile: words, quotes, comments, and braces at the ends of lines. */
export function readBlocks(text: string, source: string): readonly Directive[] {
  const lines: { words: string[]; line: number }[] = [{ words: [], line: 1 }];
  // A line that goes on still counts, by a blank of its own.
  const joined = text.replaceAll('\\\n', ' \v');
  const endOf = markEnds(joined);
  let line = 1;
  let at = 0;
  token.lastIndex = 0;
  for (let match = token.exec(joined); match !== null; match = token.exec(joined)) {
    const [found, mark] = match;
    const end = mark === undefined ? undefined : endOf(mark, match.index + found.length);
    // Without its end, it is a word like any other.
    const word = mark === undefined || end !== undefined ? found : found.trimEnd();
    token.lastIndex = end ?? match.index + word.length;
    line += joined.slice(at, match.index).match(/[\n\v]/g)?.length ?? 0;
    at = match.index;
    const last = lines.at(-1);
    // A list of addresses goes on after a comma.
    if (word === '\n' && last?.words.at(-1)?.endsWith(',') === true) continue;
    if (word === '\n') lines.push({ words: [], line: line + 1 });
    else if (!word.startsWith('#') && last !== undefined) {
      if (last.words.length === 0) last.line = line;
      last.words.push(unquoted(word));
    }
  }
  const top: Directive[] = [];
  const open: Directive[][] = [top];
  for (const { words, line: number } of lines) {
    if (words.length === 0) continue;
    if (words.length === 1 && words[0] === '}') {
      open.pop();
      if (open.length === 0) throw new CommandFault(`${source}: line ${number} has a "}" too many`);
      continue;
    }
    const opens = words.at(-1) === '{';
    const block: Directive[] = [];
    open.at(-1)?.push({ words: opens ? words.slice(0, -1) : words, block: opens ? block : undefined, line: number });
    if (opens) open.push(block);
    if (open.length > mostDepth)
      throw new CommandFault(
        `${source}: line ${number} is in more than ${mostDepth} blocks, which is too deep to be read`,
      );
  }
  if (open.length > 1) throw new CommandFault(`${source}: a "{" is not closed`);
  return top;
}

/** Finds where a text ends: behind the next line whose first word is its mark. Each line is looked at once. */
function markEnds(text: string): (mark: string, from: number) => number | undefined {
  const ends = new Map<string, number[]>();
  let start = 0;
  for (const line of text.split('\n')) {
    const trimmed = line.trimStart();
    const [word = ''] = trimmed.split(/\s/, 1);
    const end = start + line.length - trimmed.length + word.length;
    const known = ends.get(word);
    if (known === undefined) ends.set(word, [end]);
    else known.push(end);
    start += line.length + 1;
  }
  const next = new Map<string, number>();
  return (mark, from) => {
    const known = ends.get(mark) ?? [];
    let at = next.get(mark) ?? 0;
    // Texts come in the order of the file: what lies before one is never looked for again.
    while (at < known.length && (known[at] ?? 0) - mark.length < from) at += 1;
    next.set(mark, at);
    return known[at];
  };
}

function unquoted(word: string): string {
  // Nothing that is taken over has such a text: its mark stands for it.
  if (word.startsWith('<<')) return word.split('\n', 1)[0] ?? '';
  if (word.startsWith('"')) return word.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  return word.startsWith('`') ? word.slice(1, -1) : word;
}
