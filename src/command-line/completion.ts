import type { Command } from 'commander';

import { bashCompletion, fishCompletion, zshCompletion } from './completion-scripts.ts';
import type { Candidates } from './completion-scripts.ts';
import type { Host } from './host.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

const notes = `
Examples:
  gatehouse completion bash > ~/.local/share/bash-completion/completions/gatehouse
  gatehouse completion zsh > ~/.zfunc/_gatehouse          (a folder of $fpath, before compinit)
  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish`;

/** `completion`: the script knows all commands and flags of this version, so that a shell need not start the program. */
export function addCompletion(program: Command, host: Host): void {
  const shell = program.createArgument('<shell>', 'the shell to write it for').choices(Object.keys(scripts));
  program
    .command('completion')
    .summary('write a completion script for a shell')
    .description('Writes a script that completes commands, flags and their values.')
    .addArgument(shell)
    .addHelpText('after', notes)
    .action((name: keyof typeof scripts) => {
      host.stdout.write(scripts[name](findCandidates(program)));
    });
}

/** Everything that may follow each command, and each flag that takes one of some values. */
function findCandidates(program: Command): Candidates {
  const words = new Map<string, readonly string[]>();
  const values = new Map<string, readonly string[]>();
  const visit = (command: Command, path: string): void => {
    const options = command.options.filter(({ hidden, long }) => !hidden && long !== undefined);
    const names = command.commands.map((each) => each.name());
    const own = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
    words.set(path, [...names, ...own, ...options.map(({ long }) => long ?? ''), '--help'].filter(isSafe));
    for (const { long, argChoices } of options)
      if (argChoices !== undefined) values.set(`${path} ${long}`, argChoices.filter(isSafe));
    for (const each of command.commands) visit(each, path === '' ? each.name() : `${path} ${each.name()}`);
  };
  visit(program, '');
  return { words, values };
}

/** Nothing that a shell would read as more than a word. */
function isSafe(word: string): boolean {
  return /^[\w.-]+$/.test(word);
}
