import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';

/**
 * An interactive bash in a terminal of its own, into which blocks are pasted as a person does it: the next one when the shell
 * is ready again. `script`, which Debian has on every system, makes the terminal.
 */
export class Terminal implements AsyncDisposable {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  #output = '';
  #pasted = 0;
  #look: () => void = () => {};

  constructor(cwd: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#shell = spawn('script', ['-qec', 'bash --noprofile --norc -i', '/dev/null'], {
      cwd,
      // A terminal without control sequences of its own: any that come are those of the commands.
      env: { ...environment, TERM: 'dumb', PS1: '$ ', HISTFILE: '/dev/null' },
    });
    const read = (chunk: unknown): void => {
      this.#output += String(chunk).replaceAll('\r', '');
      this.#look();
    };
    this.#shell.stdout.on('data', read);
    this.#shell.stderr.on('data', read);
    this.#ended = once(this.#shell, 'exit');
    void this.#ended.then(() => this.#look());
  }

  /** Everything that the terminal has shown, what was pasted among it. */
  get output(): string {
    return this.#output;
  }

  /** Pastes a block; resolves with what the terminal has shown once its last command has ended. */
  async paste(block: string): Promise<string> {
    const from = this.#output.length;
    // What is shown while it is typed differs from what it prints.
    this.#pasted += 1;
    const mark = `block ${this.#pasted} is over`;
    this.#shell.stdin.write(`${block.trimEnd()}\necho "block $((${this.#pasted})) is over"\n`);
    for (;;) {
      const end = this.#output.indexOf(`\n${mark}\n`, from);
      if (end >= 0) return this.#output.slice(from, end);
      if (this.#shell.exitCode !== null) throw new Error(`the shell has ended:\n${this.#output}`);
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // As if the window were closed: the shell tells its jobs.
    if (this.#shell.exitCode === null) this.#shell.stdin.write('\nkill $(jobs -p)\nexit\n');
    await this.#ended;
  }
}
