import type { Command, Option } from 'commander';

import type { Host } from '../src/command-line/host.ts';
import { createProgram } from '../src/command-line/program.ts';
import { readDocument } from '../src/remote-commands/derived/document.ts';
import type { OpenApiDocument } from '../src/remote-commands/derived/document.ts';
import { addRemoteCommands } from '../src/remote-commands/index.ts';

/** Flags that the page of the command line describes, wherever they have the same words in so many commands. */
const shared = new Set(
  '--url --token --profile --output --query --body --watch --show-etag --limit --if-match'.split(' '),
);
const sharedFrom = 15;

/** Commands that talk to a server, each with the words that call it. */
export function remoteCommands(document: OpenApiDocument = readDocument()): readonly (readonly [string, Command])[] {
  const program = createProgram('0');
  // Nothing is run, so that nothing of a process is needed.
  addRemoteCommands(program, document, {} as Host);
  const leaves = (command: Command, path: string): readonly (readonly [string, Command])[] =>
    command.commands.length === 0
      ? [[path, command]]
      : command.commands.flatMap((each) => leaves(each, `${path} ${each.name()}`));
  return leaves(program, 'gatehouse');
}

/** Returns docs/command-reference.md. */
export function commandReference(document: OpenApiDocument): string {
  const commands = remoteCommands(document);
  const counts = new Map<string, number>();
  for (const { description } of commands.flatMap(([, { options }]) => options))
    counts.set(description, (counts.get(description) ?? 0) + 1);
  const isOwn = ({ description, long }: Option) =>
    !shared.has(long ?? '') || (counts.get(description) ?? 0) < sharedFrom;
  return `# Command reference

Commands that talk to a server. Generated from \`openapi.json\` by \`npm run generate\`; [command-line.md](command-line.md) says
what they have in common, and describes the flags that all of them share.

${commands.map(([path, command]) => describe(path, command, isOwn)).join('\n')}`;
}

function describe(path: string, command: Command, isOwn: (option: Option) => boolean): string {
  const words = command.registeredArguments.map((each) => `<${each.name()}>`);
  const flags = command.options.filter((option) => !option.hidden && isOwn(option));
  const lines = flags.map(({ flags: form, description, argChoices }) => {
    const choices = argChoices === undefined ? '' : ` (one of ${argChoices.map((each) => `\`${each}\``).join(', ')})`;
    return `- \`${form}\` ${description}${choices}`;
  });
  return `## ${[path, ...words].join(' ').replaceAll('<', '\\<')}\n\n${[command.description(), ...lines].join('\n')}\n`;
}
