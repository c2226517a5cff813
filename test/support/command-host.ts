import { addRemoteCommands } from '../../src/remote-commands/index.ts';
import type { Host } from '../../src/command-line/host.ts';
import { createProgram, toArguments } from '../../src/command-line/program.ts';
import { readDocument } from '../../src/remote-commands/derived/document.ts';
import type { Ended } from './gatehouse-process.ts';

/** Runs a command that talks to a server in this process, where many can be run in the time of one start. */
export async function runCommand(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  let out = '';
  let errors = '';
  // The part of the process that such commands use.
  const host = {
    env,
    stdin: process.stdin,
    stdout: { isTTY: false, write: (text: string) => (out += text) },
    stderr: { isTTY: false, write: (text: string) => (errors += text) },
    once: () => {},
    exitCode: 0,
  } as unknown as Host;
  const program = createProgram('0');
  addRemoteCommands(program, readDocument(), host);
  await program.parseAsync(toArguments(words), { from: 'user' });
  return { code: Number(host.exitCode), out, errors };
}
