import type { Command } from 'commander';

import { nearestName } from './nearest-name.ts';

/** Verbs of other programs, by the one that does the same here. */
const otherVerbs: Readonly<Record<string, readonly string[]>> = {
  get: ['show', 'describe', 'view'],
  list: ['ls', 'all'],
  create: ['add', 'new'],
  update: ['edit', 'patch', 'change', 'modify'],
  set: ['replace', 'put'],
  delete: ['remove', 'rm', 'destroy'],
};

/** Adds a command that only holds others. */
export function addGroup(above: Command, name: string): Command {
  return explainUnknown(above.command(name).helpCommand(false));
}

/** Makes a command say which one of it was probably meant, where none has the name. */
export function explainUnknown(group: Command): Command {
  return group.on('command:*', (words: readonly string[]) => {
    refuseUnknown(group, words);
  });
}

/** Ends with an error for words that are none of the commands of a group. */
export function refuseUnknown(group: Command, words: readonly string[]): never {
  const [word = ''] = words;
  const meant = findMeant(group, words);
  const hint = meant === undefined ? '' : `\n(Did you mean "${pathOf(group)} ${meant}"?)`;
  return group.error(`error: unknown command '${word}'${hint}`, { code: 'commander.unknownCommand' });
}

function findMeant(group: Command, [word = '', ...rest]: readonly string[]): string | undefined {
  const names = group.commands.map((each) => each.name());
  const same = names.find((name) => otherVerbs[name]?.includes(word));
  const nearest = same ?? nearestName(word, names);
  if (nearest !== undefined) return nearest;
  // An id stands where the verb of a group with one command belongs.
  const [only, ...others] = names;
  return only !== undefined && others.length === 0 ? [only, word, ...rest].join(' ') : undefined;
}

export function findCommand(group: Command, word: string): Command | undefined {
  return group.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
