import { Command } from 'commander';

import { explainUnknown, findCommand, refuseUnknown } from '../lib/command-groups.ts';

/** Flags of the program itself; every other flag belongs to a command. */
const ownFlags = new Set(['-h', '--help', '--version']);
/** Flags of all commands that talk to a server, each with a value: people write them before the command too. */
const serverFlags = new Set(['--profile', '--url', '--token', '--output', '-o', '--query']);

const examples = `
Without a command it serves. The settings are listed by: gatehouse serve --help

Examples:
  gatehouse                                       run the service
  gatehouse http 3000                             give the web server on port 3000 a public name
  gatehouse http 3000 --domain shop.example.com   this name
  gatehouse tcp 22                                give the server on port 22 a public port
  gatehouse apply gatehouse.yaml                  make a server equal to files
  gatehouse help http                             all that an agent can be asked for`;

export function createProgram(version: string): Command {
  const program = new Command('gatehouse')
    .description('A self-hosted alternative to ngrok: gives programs a public address, and decides who may use it.')
    .version(version, '--version', 'print the version')
    .helpCommand(false)
    .showHelpAfterError('(add --help to see what there is)')
    .addHelpText('after', examples);
  return explainUnknown(program);
}

/** `gatehouse help COMMAND`, however many words the command has. */
export function addHelp(program: Command): void {
  program
    .command('help')
    .summary('show how to call a command')
    .argument('[command...]', 'words of the command, such as: edges https create')
    .action((words: readonly string[]) => {
      let shown = program;
      for (const [at, word] of words.entries()) {
        const next = findCommand(shown, word);
        if (next === undefined) return refuseUnknown(shown, words.slice(at));
        shown = next;
      }
      return shown.help();
    });
}

/**
 * Arguments as commander takes them. Flags without a command are those of `serve`. `--flag=value` becomes two words: a
 * message about a mistyped flag then never shows the value, which may be a secret.
 */
export function toArguments(words: readonly string[]): readonly string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const flags = words.slice(0, end).flatMap((word) => {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    return flag === undefined || value === undefined ? [word] : [flag, value];
  });
  let before = 0;
  while (serverFlags.has(flags[before] ?? '')) before += 2;
  const ordered = before < flags.length ? [...flags.slice(before), ...flags.slice(0, before)] : flags;
  const [first] = ordered;
  const isServe = first === undefined || (first.startsWith('-') && !ownFlags.has(first));
  return [...(isServe ? ['serve'] : []), ...ordered, ...words.slice(end)];
}
