import type { AgentState, Reporter } from '../reporter.ts';
import type { Target } from '../target.ts';
import type { ConnectionReport } from '../visitor.ts';
import type { RequestReport } from '../watch/http-watch.ts';
import type { LineOutput } from './line-output.ts';
import { describeConnection, describeRequest, describeState, printable } from './text-lines.ts';

/** One line for each thing that happens. Faults at the end go to `errors`. */
export class TextReporter implements Reporter {
  readonly #out: LineOutput;
  readonly #errors: LineOutput;
  /** Each further attempt follows a line that has announced it. */
  #hasBegun = false;

  constructor(out: LineOutput, errors: LineOutput) {
    this.#out = out;
    this.#errors = errors;
  }

  state(state: AgentState): void {
    const isRepeated = state.kind === 'connecting' && this.#hasBegun;
    this.#hasBegun = true;
    if (!isRepeated) this.#line(describeState(state));
  }

  inspecting(url: string): void {
    this.#line(`inspect requests at ${url}`);
  }

  request(report: RequestReport): void {
    this.#line(describeRequest(report));
  }

  connection(report: ConnectionReport): void {
    this.#line(describeConnection(report));
  }

  targetFailed({ url }: Target, reason: string): void {
    this.#line(`target ${url} cannot be reached: ${reason}`);
  }

  async end(lines: readonly string[], isFault: boolean): Promise<void> {
    const output = isFault ? this.#errors : this.#out;
    for (const line of lines) output.line(printable(line));
    await Promise.all([this.#out.flushed(), this.#errors.flushed()]);
  }

  #line(text: string): void {
    this.#out.line(`${new Date().toISOString()} ${printable(text)}`);
  }
}
