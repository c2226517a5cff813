import assert from 'node:assert/strict';
import { test } from 'node:test';

import { remoteVariables } from '../../src/config/remote-variables.ts';
import { exitCodes } from '../../src/remote-commands/exit.ts';
import { remoteCommands } from '../../tools/command-reference.ts';
import { readRootFile } from './support/source-files.ts';

const page = readRootFile('docs/command-line.md');

test('the exit codes of commands that talk to a server are those of their page', () => {
  const [, table = ''] = page.split('| exit code | meaning |\n');
  const codes = [...(table.split('\n\n', 1)[0] ?? '').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  assert.deepEqual(codes, Object.values(exitCodes));
});

test('the page names every variable of these commands', () => {
  for (const variable of Object.values(remoteVariables)) assert.ok(page.includes(variable), variable);
});

test('every command that talks to a server has an example of itself in its help', () => {
  const commands = remoteCommands();
  assert.ok(commands.length > 100);
  for (const [path, command] of commands) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    assert.ok(help.includes(`\nExample:\n  ${path}`), path);
  }
});
