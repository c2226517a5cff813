import type { Command } from 'commander';

import { addGroup } from '../../lib/command-groups.ts';
import type { Host } from '../../command-line/host.ts';
import { exitCodeText } from '../exit.ts';
import { reportFault } from '../report-fault.ts';
import { addServerOptions } from '../server.ts';
import { addOutputOptions } from '../show-result.ts';
import { deriveCommands, placeholder } from './derive-commands.ts';
import type { DerivedCommand } from './derive-commands.ts';
import type { OpenApiDocument } from './document.ts';
import { optionKey } from './flags.ts';
import type { Flag } from './flags.ts';

const bodyNotes = `
A list is given by repeating its flag. A field of an object has a dot in its flag; the whole object can be given as JSON. A
text that begins with @ is the name of a file that holds it.`;
const foldedNote = `
The fields of an object are listed by the command for it alone, such as "rate-limit set --help"; each has a flag here too, such as
--rate-limit.limit.`;

/** Commands for all operations of the document, or those that begin with a word. */
export function addDerivedCommands(program: Command, document: OpenApiDocument, host: Host, first?: string): void {
  for (const derived of deriveCommands(document, first)) addDerivedCommand(program, derived, host);
}

function addDerivedCommand(program: Command, derived: DerivedCommand, host: Host): void {
  const groups = derived.words.slice(0, -1);
  const parent = groups.reduce((above, name, at) => findGroup(above, name, at === 0), program);
  const command = parent
    .command(derived.words.at(-1) ?? '')
    .summary(derived.summary)
    .description(derived.description);
  if (parent === program) command.helpGroup(resourcesGroup);
  // The line of a group in the help names its commands.
  for (let group: Command | null = parent; group !== null && group !== program; group = group.parent)
    group.summary(group.commands.map((each) => each.name()).join(', '));
  for (const { name, description = '' } of derived.positional) command.argument(`<${placeholder(name)}>`, description);
  const isLong = derived.fields.length > shownFields;
  for (const flag of [...derived.query, ...derived.fields]) addFlag(command, isLong ? folded(flag) : flag);
  addOwnOptions(command, derived);
  addOutputOptions(addServerOptions(command));
  const notes = derived.fields.length > 0 ? `${bodyNotes}${isLong ? foldedNote : ''}\n` : '';
  command.addHelpText('after', `${notes}\nExample:\n  ${derived.example}\n\n${exitCodeText}`).action(() =>
    reportFault(host, async () => {
      const { runOperation } = await import('./run-operation.ts');
      await runOperation(derived, command.args, command.opts(), host);
    }),
  );
}

/** With more fields, the help shows objects as a whole, and not each of their fields. */
const shownFields = 40;

function folded(flag: Flag): Flag {
  const [first = ''] = flag.description.split(/(?<=[.:]) /);
  return { ...flag, description: first.replace(/:$/, '.'), isHidden: flag.path.length > 1 };
}

const resourcesGroup = 'Resources of a server:';

function findGroup(above: Command, name: string, isFirst: boolean): Command {
  const found = above.commands.find((each) => each.name() === name);
  if (found !== undefined) return found;
  const group = addGroup(above, name);
  return isFirst ? group.helpGroup(resourcesGroup) : group;
}

function addFlag(command: Command, flag: Flag): void {
  const gather = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];
  const option = command.createOption(`--${flag.name} ${formOf(flag)}`, describe(flag)).argParser(gather);
  option.attributeName = () => optionKey(flag);
  // For the help and for completion; what is wrong is reported with the other flags.
  if (flag.choices !== undefined) option.argChoices = [...flag.choices];
  command.addOption(flag.isHidden ? option.hideHelp() : option);
}

function formOf({ kind }: Flag): string {
  if (kind === 'boolean') return '[true|false]';
  return { text: '<text>', integer: '<number>', number: '<number>', json: '<json>', map: '<key=value>' }[kind];
}

function describe({ description, isRequired, repeats, kind }: Flag): string {
  const notes = [...(isRequired ? ['required'] : []), ...(repeats || kind === 'map' ? ['repeatable'] : [])];
  return notes.length === 0 ? description : `${description} (${notes.join(', ')})`.trimStart();
}

function addOwnOptions(command: Command, derived: DerivedCommand): void {
  const { facts, takesBody, takesIfMatch, takesAllowLockout } = derived;
  if (takesBody) command.option('--body <file>', 'the whole body, as JSON or YAML; "-" reads standard input');
  if (facts.list !== undefined) command.option('--limit <number>', 'end after so many entries; without it all pages');
  if (facts.method === 'GET') {
    command.option('--watch [seconds]', 'show it again whenever it has changed, looking every 2 seconds');
    if (facts.list === undefined) command.option('--show-etag', 'write the ETag to standard error, for --if-match');
  }
  if (takesIfMatch) command.option('--if-match <etag>', 'change it only if its ETag is still this one');
  if (takesAllowLockout) command.option('--allow-lockout', 'make the change although it locks you out');
  if (derived.confirms) command.option('-y, --yes', 'do not ask');
  if (facts.idempotencyKey)
    command.option('--idempotency-key <key>', 'a call that is repeated with the same key creates nothing more');
}
