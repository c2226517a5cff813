import { CommanderError } from 'commander';
import type { Command } from 'commander';

import { explain } from '../../src/command-line/explain.ts';
import { guardOutput } from '../../src/command-line/host.ts';
import type { Host } from '../../src/command-line/host.ts';
import { createProgram, toArguments } from '../../src/command-line/program.ts';
import { readDocument } from '../../src/remote-commands/derived/document.ts';
import { addRemoteCommands } from '../../src/remote-commands/index.ts';
import type { Ended } from './gatehouse-process.ts';

type CommandProcess = Host & { exitCode: number };

/** Runs commands in this process, where many can be run in the time of one start. */
export class CommandHost {
  readonly program: Command = createProgram('0').exitOverride();
  readonly #host: CommandProcess;
  readonly #printed = { out: '', errors: '' };
  readonly #streams = {
    out: { isTTY: false, write: this.#writeTo('out') },
    errors: { isTTY: false, write: this.#writeTo('errors') },
  };

  constructor(env: Readonly<Record<string, string>>) {
    const { out: stdout, errors: stderr } = this.#streams;
    // The part of the process that such commands use.
    this.#host = {
      env,
      stdin: { isTTY: false },
      stdout,
      stderr,
      once: () => {},
      exitCode: 0,
    } as unknown as CommandProcess;
    for (const stream of [this.#host.stdout, this.#host.stderr]) guardOutput(stream);
    this.program.configureOutput({
      writeOut: (text) => this.#host.stdout.write(text),
      writeErr: (text) => this.#host.stderr.write(text),
    });
  }

  /** Adds commands of one kind, as `main.ts` does. */
  add(addCommands: (program: Command, host: Host) => void): void {
    addCommands(this.program, this.#host);
  }

  async run(words: readonly string[], isTTY = false): Promise<Ended> {
    Object.assign(this.#printed, { out: '', errors: '' });
    for (const stream of Object.values(this.#streams)) stream.isTTY = isTTY;
    this.#host.exitCode = 0;
    await this.program.parseAsync(toArguments(words), { from: 'user' });
    return { code: this.#host.exitCode, ...this.#printed };
  }

  /** The same, with faults in what it prints and in its code, as `main.ts` ends. */
  async end(words: readonly string[]): Promise<Ended> {
    try {
      return await this.run(words);
    } catch (error) {
      if (error instanceof CommanderError) return { code: error.exitCode, ...this.#printed };
      this.#host.stderr.write(`${explain(error)}\n`);
      return { code: 1, ...this.#printed };
    }
  }

  #writeTo(name: 'out' | 'errors') {
    return (text: string) => {
      this.#printed[name] += text;
      return true;
    };
  }
}

/** Has the commands that talk to a server. */
export function remoteCommands(env: Readonly<Record<string, string>>): CommandHost {
  const commands = new CommandHost(env);
  commands.add((program, host) => addRemoteCommands(program, readDocument(), host));
  return commands;
}
