import { CommandFault } from '../../exit.ts';

/** A directive of a Caddyfile with its arguments, and what stands in its braces. */
export interface Directive {
  readonly words: readonly string[];
  readonly block: readonly Directive[] | undefined;
  readonly line: number;
}

/** Quotes, a text between marks (`<<END`), comments, ends of lines, words. */
const token = /"(?:[^"\\]|\\.)*"|`[^`]*`|<<(\w+)\n[^]*?\n[ \t]*\1(?!\S)|#[^\n]*|\n|[^\s"`#][^\s]*/g;

/** Reads the lines of a Caddyfile: words, quotes, comments, and braces at the ends of lines. */
export function readBlocks(text: string, source: string): readonly Directive[] {
  const lines: { words: string[]; line: number }[] = [{ words: [], line: 1 }];
  // A line that goes on still counts, by a blank of its own.
  const joined = text.replaceAll('\\\n', ' \v');
  let line = 1;
  let at = 0;
  for (const match of joined.matchAll(token)) {
    const [word] = match;
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
  }
  if (open.length > 1) throw new CommandFault(`${source}: a "{" is not closed`);
  return top;
}

function unquoted(word: string): string {
  // Nothing that is taken over has such a text: its mark stands for it.
  if (word.startsWith('<<')) return word.split('\n', 1)[0] ?? '';
  if (word.startsWith('"')) return word.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  return word.startsWith('`') ? word.slice(1, -1) : word;
}
