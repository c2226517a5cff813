import { qrLines } from '../../lib/qr-code.ts';
import { controlSequence } from '../../lib/terminal-text.ts';
import type { AgentState, Reporter } from '../reporter.ts';
import type { Target } from '../target.ts';
import type { ConnectionReport } from '../visitor.ts';
import type { RequestReport } from '../watch/http-watch.ts';
import type { LineOutput } from './line-output.ts';
import { drawScreen, maxScreenLines } from './screen.ts';
import type { ScreenLine, ScreenSize } from './screen.ts';
import { describeConnection, describeState, printable } from './text-lines.ts';

/** The part of a terminal that the live view needs beside a way to write. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The view changes at most this often. */
const redrawMs = 100;
const enter = controlSequence('?1049h') + controlSequence('?25l');
const leave = controlSequence('?25h') + controlSequence('?1049l');
const home = controlSequence('H');
/** Before each line, not behind it, where it would take the last letter of a line that fills the terminal. */
const eraseLine = controlSequence('2K');
const eraseBelow = controlSequence('J');
const blackOnWhite = controlSequence('30;107m');
const usualColours = controlSequence('0m');
/** Columns that the view keeps beside a code. */
const viewColumns = 64;

/**
 * A live view on a terminal, on its other screen: what was there before comes back at the end. It begins with the first
 * state, when signals are handled: one that came before would leave the terminal as it is then.
 */
export class ScreenReporter implements Reporter {
  readonly #out: LineOutput;
  readonly #terminal: Terminal;
  readonly #target: string;
  readonly #lines: ScreenLine[] = [];
  readonly #resized = (): void => {
    this.#schedule();
  };
  #state: AgentState = { kind: 'connecting', server: '' };
  #address: string | undefined;
  #inspected: string | undefined;
  #requests = 0;
  #connections = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasEntered = false;
  readonly #hasColour: boolean;

  constructor(out: LineOutput, terminal: Terminal, target: string, hasColour: boolean) {
    this.#hasColour = hasColour;
    this.#out = out;
    this.#terminal = terminal;
    this.#target = target;
    terminal.on('resize', this.#resized);
  }

  state(state: AgentState): void {
    if (state.kind === 'online') this.#address = state.address;
    if (state.kind !== 'connecting') this.#add({ time: timeOfDay(), text: describeState(state) });
    this.#state = state;
    this.#schedule();
  }

  inspecting(url: string): void {
    this.#inspected = url;
  }

  request(request: RequestReport): void {
    this.#requests++;
    this.#add({ time: timeOfDay(), request });
  }

  connection(report: ConnectionReport): void {
    this.#connections++;
    this.#add({ time: timeOfDay(), text: describeConnection(report) });
  }

  targetFailed({ url }: Target, reason: string): void {
    this.#add({ time: timeOfDay(), text: `target ${url} cannot be reached: ${reason}` });
  }

  async end(lines: readonly string[], _isFault: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#terminal.off('resize', this.#resized);
    if (this.#hasEntered) this.#out.write(leave);
    for (const line of lines) this.#out.line(printable(line));
    await this.#out.flushed();
  }

  #add(line: ScreenLine): void {
    this.#lines.push(line);
    if (this.#lines.length > maxScreenLines) this.#lines.shift();
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#hasEntered) this.#out.write(enter);
    this.#hasEntered = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A terminal that was stopped gets the newest picture when it goes on.
      if (this.#out.isBehind) this.#schedule();
      else this.#draw();
    }, redrawMs);
  }

  #draw(): void {
    const { columns = 80, rows = 24 } = this.#terminal;
    const code = this.#codeFor(columns, rows);
    const size: ScreenSize = { columns: columns - (code[0]?.length ?? 0), rows };
    const lines = drawScreen(
      {
        state: this.#state,
        address: this.#address,
        target: this.#target,
        inspected: this.#inspected,
        requests: this.#requests,
        connections: this.#connections,
        lines: this.#lines,
      },
      size,
    );
    const beside = Array.from({ length: Math.max(lines.length, code.length) }, (_, at) => {
      const line = lines[at] ?? '';
      const part = code[at];
      return part === undefined ? line : `${line.padEnd(size.columns)}${blackOnWhite}${part}${usualColours}`;
    });
    this.#out.write(`${home}${beside.map((line) => `${eraseLine}${line}`).join('\r\n')}${eraseBelow}`);
  }

  /** The address as a code for a telephone; empty where it would not fit beside the view. */
  #codeFor(columns: number, rows: number): readonly string[] {
    if (!this.#hasColour || this.#address?.startsWith('http') !== true) return [];
    const code = qrLines(this.#address) ?? [];
    return columns - (code[0]?.length ?? 0) >= viewColumns && rows > code.length ? code : [];
  }
}

function timeOfDay(): string {
  return new Date().toTimeString().slice(0, 8);
}
