import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { Command } from 'commander';

import { addCommands } from '../../src/add-commands.ts';
import type { Host } from '../../src/command-line/host.ts';
import { createProgram, toArguments } from '../../src/command-line/program.ts';
import { readRootFile, sourceFiles } from './support/source-files.ts';

const pages = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];

/** Every command, none of which does anything. */
async function createIdleProgram(): Promise<Command> {
  // Nothing is run, so that nothing of a process is needed.
  const host = {} as Host;
  const program = createProgram('0');
  await addCommands(program, ['--help'], '0', host);
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
    for (const each of command.commands) silence(each);
  };
  silence(program);
  return program;
}

interface Shown {
  readonly page: string;
  readonly text: string;
  /** In a sentence; a command may stand there without what it is given. */
  readonly isInline: boolean;
}

function commandsOf(page: string): readonly Shown[] {
  const text = readRootFile(page);
  const blocks = [...text.matchAll(/^ *```(?:sh|)\n(.*?)^ *```/gms)].map(([, block = '']) =>
    block.replaceAll('\\\n', ' '),
  );
  const lines = blocks.flatMap((block) => block.split('\n'));
  const calls = lines
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => [...line.matchAll(/(?:^|[\s(]|npx |bin\/)gatehouse (?=[a-z-])(.*)/g)]);
  const prose = text.replaceAll(/^ *```.*?^ *```/gms, '');
  const inline = [...prose.matchAll(/`gatehouse ([^`]*)`/g)];
  return [
    ...calls.map(([, words = '']) => ({ page, text: words, isInline: false })),
    ...inline.map(([, words = '']) => ({ page, text: words, isInline: true })),
  ];
}

/** Words as a shell splits them, up to the end of the command. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  for (const [, double, single = double, other = ''] of text.matchAll(
    /(?:"([^"]*)"|'([^']*)')|((?:\$\([^)]*\)|[^\s"'])+)/g,
  )) {
    if (/^(?:[|;&)]|\d?>|<$|<<|#)/.test(other)) break;
    words.push(single ?? other.replace(/\)$/, ''));
  }
  return words.filter((word) => word !== '');
}

function isOnlyName(program: Command, words: readonly string[]): boolean {
  let at = program;
  for (const word of words) {
    const next = at.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

function failureOf(program: Command, words: readonly string[]): string | undefined {
  try {
    program.parse(toArguments(words), { from: 'user' });
    return undefined;
  } catch (error) {
    const isHelp = error instanceof Error && 'code' in error && String(error.code).startsWith('commander.help');
    return isHelp ? undefined : String(error);
  }
}

test('every command of the README and of docs is one that there is, with flags and arguments that it takes', async () => {
  const program = await createIdleProgram();
  const shown = pages.flatMap(commandsOf);
  assert.ok(shown.length > 80, `${shown.length} commands are found`);
  const wrong = shown.flatMap(({ page, text, isInline }) => {
    const words = wordsOf(text.replaceAll(/(?<=^\w+)\|[\w|]+/g, ''));
    if (isInline && isOnlyName(program, words)) return [];
    const failure = failureOf(program, words);
    return failure === undefined ? [] : [`${page}: gatehouse ${text}: ${failure}`];
  });
  assert.deepEqual(wrong, []);
});

test('every command that a help text shows is one that there is', async () => {
  const program = await createIdleProgram();
  const all = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(all)];
  const shown = all(program).flatMap((command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    // What an example does stands behind it, at a distance.
    return [...help.matchAll(/^ +gatehouse (\S.*?)(?: {2}.*)?$/gm)].map(([, text = '']) => text);
  });
  assert.ok(shown.length > 150, `${shown.length} commands are found`);
  const wrong = shown.flatMap((text) => {
    const failure = failureOf(program, wordsOf(text));
    return failure === undefined ? [] : [`gatehouse ${text}: ${failure}`];
  });
  assert.deepEqual(wrong, []);
});

test('no page, message or text of the dashboard has words that the glossary avoids', () => {
  const glossary = readRootFile('docs/glossary.md');
  const [before = '', table = ''] = glossary.split('| not | but |\n|---|---|\n');
  const words = table.split('\n').flatMap((row) => /^\| ([^|]+) \|/.exec(row)?.[1]?.split(', ') ?? []);
  assert.ok(words.length > 5, `${words.length} words are found`);
  const avoided = new RegExp(`\\b(?:${words.join('|')})\\b`, 'gi');
  /** The rows of this table name tests, which are not for readers of the page. */
  const withoutTests = (text: string) => text.split('\n| class | how it is held | tests |')[0] ?? '';
  const texts = [
    ...pages.map((page) => [page, page === 'docs/glossary.md' ? before : withoutTests(readRootFile(page))]),
    ['openapi.json', readRootFile('openapi.json')],
    ...['src', 'dashboard/src'].flatMap((folder) =>
      sourceFiles(folder).map(({ path, code }) => [path, withoutComments(code)]),
    ),
  ];
  const found = texts.flatMap(([path, text = '']) => (text.match(avoided) ?? []).map((word) => `${path}: ${word}`));
  assert.deepEqual(found, []);
});

/** What is left may lack the end of a text with `//` after a space, which no text for people has. */
function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}
