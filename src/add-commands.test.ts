import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import type { Command } from 'commander';

import { addCommands } from './add-commands.ts';
import type { Host } from './command-line/host.ts';
import { createProgram } from './command-line/program.ts';
import { findCommand } from './lib/command-groups.ts';

/** Nothing is run, so that nothing of a process is needed. */
async function programFor(...words: readonly string[]): Promise<Command> {
  const program = createProgram('0');
  await addCommands(program, words, '0', {} as Host);
  return program;
}

const namesOf = (program: Command) => program.commands.map((each) => each.name());

/** The help of a command and of all that are in it. */
function helpOf(command: Command): readonly string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return [help, ...command.commands.flatMap(helpOf)];
}

describe('commands that are added', () => {
  let whole: Command;
  before(async () => {
    whole = await programFor('--help');
  });

  test('a command that is called has the same commands, flags and help as among all, and so it has after "help"', async () => {
    assert.ok(whole.commands.length > 60, String(namesOf(whole)));
    for (const command of whole.commands) {
      const words = [command.name(), ...command.aliases()];
      for (const called of [...words.map((word) => [word]), ['help', command.name()]]) {
        const found = findCommand(await programFor(...called), called.at(-1) ?? '');
        assert.deepEqual(found && helpOf(found), helpOf(command), called.join(' '));
      }
    }
  });

  test('all are added for the help of the program, for completion, and where no command has the name', async () => {
    for (const words of [['help'], ['completion', 'bash'], ['frobnicate'], ['help', 'frobnicate'], ['-h']])
      assert.deepEqual(namesOf(await programFor(...words)), namesOf(whole), words.join(' '));
  });

  test('of the commands of the API only the group that is called is derived, and for other commands none', async () => {
    const own = namesOf(await programFor('apply', 'gatehouse.yaml'));
    const ofHost = namesOf(await programFor('doctor'));
    for (const name of ofHost.filter((each) => !['completion', 'help', 'users'].includes(each)))
      assert.deepEqual(namesOf(await programFor(name)), ofHost, name);
    const derived = namesOf(whole).filter((name) => ![...own, ...ofHost].includes(name));
    assert.ok(derived.length > 30, String(derived));
    for (const name of derived)
      assert.deepEqual(namesOf(await programFor(name, 'list')), [...own.slice(0, -1), name, 'help']);
    const shared = new Set(namesOf(await programFor('users')));
    assert.deepEqual(shared, new Set([...own, ...ofHost]));
  });
});
