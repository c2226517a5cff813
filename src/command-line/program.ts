import { Command } from 'commander';

/** Flags of the program itself; every other flag belongs to a command. */
const ownFlags = new Set(['-h', '--help', '--version']);

export function createProgram(version: string): Command {
  return new Command('gatehouse')
    .description('A self-hosted edge service: a management API, and a gateway that obeys it.')
    .version(version, '--version', 'print the version')
    .helpCommand(false)
    .showHelpAfterError('(add --help to see what there is)')
    .addHelpText('after', '\nWithout a command it serves. The settings are listed by: gatehouse serve --help');
}

/**
 * Arguments as commander takes them. Flags without a command are those of `serve`. `--flag=value` becomes two words: a
 * message about a mistyped flag then never shows the value, which may be a secret.
 */
export function toArguments(words: readonly string[]): readonly string[] {
  const [first] = words;
  const isServe = first === undefined || (first.startsWith('-') && !ownFlags.has(first));
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const flags = words.slice(0, end).flatMap((word) => {
    const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    return flag === undefined || value === undefined ? [word] : [flag, value];
  });
  return [...(isServe ? ['serve'] : []), ...flags, ...words.slice(end)];
}
