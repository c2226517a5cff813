import type { Command } from 'commander';

import { readConfig } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { DatabaseCommand } from '../host-commands/database-command.ts';
import { sqlitePath } from '../lib/database-url.ts';
import { createLog } from '../log.ts';
import { migrations, openContext } from '../start/open-context.ts';
import type { HostCommand, HostOption } from '../resources/host-command.ts';
import { requireDatabaseFile } from '../store/open-database.ts';
import { addGroup } from '../lib/command-groups.ts';
import type { Host } from './host.ts';

type Values = Readonly<Record<string, string>>;

/** A command that works on the resources of a database that exists. */
export function addResourceCommand(program: Command, command: HostCommand, host: Host): void {
  addCommand(program, command, host, async (config, values) => {
    const file = sqlitePath(config.databaseUrl);
    if (file !== undefined) requireDatabaseFile(file);
    const context = await openContext(config, createLog('warn', host.stderr));
    try {
      return await command.run(context, values);
    } finally {
      await context.store[Symbol.asyncDispose]();
    }
  });
}

/** A command that works on the database as a whole. */
export function addDatabaseCommand(program: Command, command: DatabaseCommand, host: Host): void {
  addCommand(program, command, host, ({ databaseUrl }, values) =>
    command.run({ url: databaseUrl, migrations }, values),
  );
}

function addCommand(
  program: Command,
  { name, summary, options }: Pick<HostCommand, 'name' | 'summary' | 'options'>,
  host: Host,
  run: (config: Config, values: Values) => Promise<string>,
): void {
  const [verb = '', group] = name.split(' ').toReversed();
  const parent = group === undefined ? program : findGroup(program, group);
  const command = parent.command(verb).summary(summary).description(summary);
  // The line of a group in the help names its commands.
  if (parent !== program) parent.summary(parent.commands.map((each) => each.name()).join(', '));
  const positional = options.filter(({ flag }) => flag.startsWith('<'));
  for (const { flag, description } of positional) command.argument(flag, description);
  for (const option of options.filter(({ flag }) => flag.startsWith('--'))) addOption(command, option);
  command.option('--database-url <url>', 'the database, as for the service');
  command.action(async () => {
    // An option without a value is `true` when it is given.
    const given = Object.entries(command.opts()).map(([key, value]): [string, string] => [key, String(value)]);
    const { databaseUrl, ...values } = Object.fromEntries(given);
    for (const [at, { flag }] of positional.entries()) values[flag.slice(1, -1)] = command.args[at] ?? '';
    host.stdout.write(`${await run(readConfig(host.env, { databaseUrl }), values)}\n`);
  });
}

/** `accounts create` stands in the group `accounts`. */
function findGroup(program: Command, name: string): Command {
  return program.commands.find((each) => each.name() === name) ?? addGroup(program, name);
}

function addOption(command: Command, { flag, description, required, choices }: HostOption): void {
  const option = command.createOption(flag, description);
  if (choices !== undefined) option.choices(choices);
  command.addOption(required ? option.makeOptionMandatory() : option);
}
