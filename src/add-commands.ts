import type { Command } from 'commander';

import { isAgentCommand, isHostCommand } from './command-line/command-names.ts';
import type { Host } from './command-line/host.ts';
import { addHelp } from './command-line/program.ts';
import { findCommand } from './lib/command-groups.ts';

/** A group with commands for a server, and others for the database of the host. */
const sharedGroup = 'users';

/**
 * Adds the command or group that the words call, and little else: to load the service, or to derive the commands of the whole
 * API, takes most of the time of a start. The help of the program, completion and a word that is no command need all of them.
 */
export async function addCommands(
  program: Command,
  [first = '', second = '']: readonly string[],
  version: string,
  host: Host,
): Promise<void> {
  if (first === '--version') return;
  const called = first === 'help' ? second : first;
  if (isHostCommand(called)) await addServiceCommands(program, host);
  else {
    const { addAgentCommands } = await import('./command-line/agent-commands.ts');
    addAgentCommands(program, version, host);
    if (!isAgentCommand(called)) await addOtherCommands(program, called, host);
  }
  addHelp(program);
}

async function addOtherCommands(program: Command, called: string, host: Host): Promise<void> {
  const { addOwnCommands } = await import('./remote-commands/index.ts');
  addOwnCommands(program, host);
  if (findCommand(program, called) !== undefined) return;
  const { addDerivedCommands } = await import('./remote-commands/derived/add-derived-commands.ts');
  const { readDocument } = await import('./remote-commands/derived/document.ts');
  const document = readDocument();
  addDerivedCommands(program, document, host, called);
  const isFound = findCommand(program, called) !== undefined;
  if (!isFound) addDerivedCommands(program, document, host);
  if (!isFound || called === sharedGroup) await addServiceCommands(program, host);
}

async function addServiceCommands(program: Command, host: Host): Promise<void> {
  const { addServe } = await import('./command-line/serve.ts');
  const { addCompletion } = await import('./command-line/completion.ts');
  const { addDoctor } = await import('./command-line/doctor/doctor.ts');
  const { addDatabaseCommand, addResourceCommand } = await import('./command-line/host-commands.ts');
  const { databaseCommands } = await import('./host-commands/index.ts');
  const { resources } = await import('./resources/index.ts');
  addServe(program, host);
  addDoctor(program, host);
  addCompletion(program, host);
  for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands)) {
    addResourceCommand(program, command, host);
  }
  for (const command of databaseCommands) addDatabaseCommand(program, command, host);
}
