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
  /** Where the output of the last block or answer ended. */
  #over = 0;
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

  /**
   * Pastes a block; resolves, once its last command has ended, with what the terminal has shown since the end of the block
   * before: a program in the background may print at any time, and no line of it is cut. `answers` are what is typed once
   * the terminal shows something, in this order: a program that asks may take more than its answer.
   */
  async paste(block: string, answers: Readonly<Record<string, string>> = {}): Promise<string> {
    let from = this.#output.length;
    const began = this.#over;
    // What is shown while it is typed differs from what it prints.
    this.#pasted += 1;
    const mark = `block ${this.#pasted} is over`;
    this.type(`${block.trimEnd()}\n`);
    for (const [shown, answer] of Object.entries(answers)) {
      from = await this.shows(shown, from);
      this.type(answer);
    }
    this.type(`echo "block $((${this.#pasted})) is over"\n`);
    // A prompt may stand before it, where the shell became ready late.
    this.#over = await this.shows(`${mark}\n`, from);
    return this.#output.slice(began, this.#over);
  }

  /** Types a command and, once it asks, the answer; resolves with what the terminal has shown until the shell is ready again. */
  async answer(command: string, answer: string): Promise<string> {
    const from = this.#output.length;
    this.type(`${command}\n`);
    const askedAt = await this.shows('[y/N] ', from);
    this.type(`${answer}\n`);
    await this.shows('\n$ ', askedAt);
    this.#over = this.#output.length;
    return this.#output.slice(from);
  }

  type(text: string): void {
    this.#shell.stdin.write(text);
  }

  /** Resolves with the place in the output, from `from` on, where the text begins. */
  async shows(text: string, from = 0): Promise<number> {
    for (;;) {
      const at = this.#output.indexOf(text, from);
      if (at >= 0) return at;
      if (this.#shell.exitCode !== null) throw new Error(`the shell has ended:\n${this.#output}`);
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // As if the window were closed: what runs ends, and the shell tells its jobs.
    if (this.#shell.exitCode === null) this.type('\u0003\nkill $(jobs -p)\nexit\n');
    await this.#ended;
  }
}
