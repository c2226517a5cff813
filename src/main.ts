import type { Command } from 'commander';

import packageJson from '../package.json' with { type: 'json' };
import { isAgentCommand } from './command-line/agent-names.ts';
import { explain } from './command-line/explain.ts';
import { guardOutput } from './command-line/host.ts';
import { addHelp, createProgram, toArguments } from './command-line/program.ts';

/** A group with commands for a server, and others for the database of the host. */
const sharedGroup = 'users';

guardOutput(process.stdout);
guardOutput(process.stderr);
const words = toArguments(process.argv.slice(2));
const program = createProgram(packageJson.version);
await addCommands(program, words);

await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});

/** Adds what the words may call: an agent or a client starts sooner, and takes less memory, without the service. */
async function addCommands(to: Command, [first = '']: readonly string[]): Promise<void> {
  if (first === '--version') return;
  if (first === 'serve') return addServiceCommands(to);
  const { addAgentCommands } = await import('./command-line/agent-commands.ts');
  addAgentCommands(to, packageJson.version, process);
  if (isAgentCommand(first)) return;
  const { addRemoteCommands } = await import('./remote-commands/index.ts');
  const { readDocument } = await import('./remote-commands/derived/document.ts');
  addRemoteCommands(to, readDocument(), process);
  const isRemote = to.commands.some((command) => command.name() === first);
  if (!isRemote || first === sharedGroup) await addServiceCommands(to);
  addHelp(to);
}

async function addServiceCommands(to: Command): Promise<void> {
  const { addServe } = await import('./command-line/serve.ts');
  const { addCompletion } = await import('./command-line/completion.ts');
  const { addDoctor } = await import('./command-line/doctor/doctor.ts');
  const { addDatabaseCommand, addResourceCommand } = await import('./command-line/host-commands.ts');
  const { databaseCommands } = await import('./host-commands/index.ts');
  const { resources } = await import('./resources/index.ts');
  addServe(to, process);
  addDoctor(to, process);
  addCompletion(to, process);
  for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands)) {
    addResourceCommand(to, command, process);
  }
  for (const command of databaseCommands) addDatabaseCommand(to, command, process);
}
