import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { GatehouseProcess } from '../support/gatehouse-process.ts';

type Shell = 'bash' | 'zsh' | 'fish';

const isThere = (shell: Shell) => spawnSync(shell, ['--version']).status === 0;
const unlessThere = (shell: Shell) => ({ skip: isThere(shell) ? false : `not tried: ${shell} is not installed` });

/** Text of the script for each shell: one start of the program makes it for all tests. */
const scripts = new Map<Shell, Promise<string>>();

async function readScript(shell: Shell): Promise<string> {
  const { code, out, errors } = await GatehouseProcess.run(['completion', shell]);
  assert.equal(code, 0, errors);
  return out;
}

async function writeScript(context: TestContext, shell: Shell): Promise<string> {
  const script = scripts.get(shell) ?? readScript(shell);
  scripts.set(shell, script);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'script');
  await writeFile(file, await script);
  return file;
}

function run(shell: Shell, script: string): string {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', script], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  return stdout;
}

const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['ip-pol'], ['ip-policies', 'ip-policy-rule-counts', 'ip-policy-rules']],
  [['edges', 'https', 'ro'], ['routes']],
  [['edges', 'https', 'create', '--hostp'], ['--hostport']],
  [['edges', 'https', 'create', '--hostport', 'a:443', '--des'], ['--description']],
  [
    ['ip-policies', 'list', '--output', ''],
    ['table', 'json', 'yaml'],
  ],
  [
    ['ip-restrictions', 'create', '--type', 'a'],
    ['api', 'agent'],
  ],
  [['completion', 'z'], ['zsh']],
  [['backu'], ['backup']],
];

test('bash completes commands, flags and values', unlessThere('bash'), async (context) => {
  const file = await writeScript(context, 'bash');
  for (const [words, expected] of cases) {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const out = run(
      'bash',
      `source ${file}; COMP_WORDS=(gatehouse ${quoted}); COMP_CWORD=${words.length}; _gatehouse; echo "\${COMPREPLY[*]}"`,
    );
    assert.deepEqual(new Set(out.trim().split(' ')), new Set(expected), words.join(' '));
  }
  assert.match(run('bash', `source ${file}; complete -p gatehouse`), /-F _gatehouse gatehouse/);
});

/** Runs a zsh at a terminal of its own, types each line, and prints what the screen and the line are then. */
const typeIntoZsh = (folder: string, lines: readonly string[]) => `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1="> "; fpath=(${folder} $fpath); autoload -U compinit; compinit -D -u'
zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle reset-prompt }; zle -N show; bindkey "^Xs" show'
zpty -w shell 'print is-$((1 + 1))-ready'
zpty -r shell out '*is-2-ready*'
for line in ${lines.map((line) => `'${line}'`).join(' ')}; do
  zpty -w -n shell "$line"$'\\C-Xs'
  zpty -r shell out '*<<*>>*'
  print -r -- "\${out//[$'\\r\\n']/ }"
done
zpty -d shell
`;

test('zsh completes commands, flags and values', { ...unlessThere('zsh'), timeout: 120_000 }, async (context) => {
  const file = await writeScript(context, 'zsh');
  await rename(file, join(dirname(file), '_gatehouse'));
  const screens = run(
    'zsh',
    typeIntoZsh(
      dirname(file),
      // The first tab completes as far as all words agree, the second one lists them.
      cases.map(([words, { length }]) => `gatehouse ${words.join(' ')}${length > 1 ? '\t\t' : '\t'}`),
    ),
  ).split('\n');
  for (const [at, [words, expected]] of cases.entries()) {
    const screen = screens[at] ?? '';
    const completed = ['gatehouse', ...words.slice(0, -1), expected[0]].join(' ');
    if (expected.length === 1) assert.ok(screen.includes(`<<${completed} >>`), screen);
    else for (const word of expected) assert.ok(screen.includes(word), `${words.join(' ')}: ${screen}`);
  }
});

test('a zsh that reads the script itself has it too', unlessThere('zsh'), async (context) => {
  const file = await writeScript(context, 'zsh');
  const out = run('zsh', `autoload -U compinit; compinit -D; source ${file}; print $_comps[gatehouse]`);
  assert.equal(out, '_gatehouse\n');
});

test('fish completes commands, flags and values', unlessThere('fish'), async (context) => {
  const file = await writeScript(context, 'fish');
  for (const [words, expected] of cases) {
    const out = run('fish', `source ${file}; complete -C 'gatehouse ${words.join(' ')}'`);
    for (const word of expected) assert.ok(out.split('\n').includes(word), `${words.join(' ')}: ${out}`);
  }
});
