import type { AgentState } from '../reporter.ts';
import type { RequestReport } from '../watch/http-watch.ts';
import { describeState, formatMs, printable } from './text-lines.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Something that happened, with the time of day. */
export type ScreenLine =
  | { readonly time: string; readonly request: RequestReport }
  | { readonly time: string; readonly text: string };

export interface ScreenContent {
  readonly state: AgentState;
  /** URL or labels, once they are known. */
  readonly address: string | undefined;
  readonly target: string;
  /** URL of the local page of requests; undefined: there is none. */
  readonly inspected: string | undefined;
  readonly requests: number;
  readonly connections: number;
  /** Oldest first. */
  readonly lines: readonly ScreenLine[];
}

export const maxScreenLines = 20;
const methodWidth = 8;
/** Columns of time, method, status, duration and the blanks between them. */
const fixedColumns = 34;

/** The lines of the live view, cut to the size of the terminal. */
export function drawScreen(content: ScreenContent, { columns, rows }: ScreenSize): readonly string[] {
  const { state, address, target, inspected, requests, connections } = content;
  const head = [
    'gatehouse agent (Ctrl-C to stop)',
    '',
    `status    ${state.kind === 'online' ? 'online' : describeState(state)}`,
    `address   ${address ?? '-'} -> ${target}`,
    ...(inspected === undefined ? [] : [`inspect   ${inspected}`]),
    `so far    ${requests} requests, ${connections} connections`,
    '',
  ];
  const room = Math.max(0, Math.min(maxScreenLines, rows - head.length - 1));
  const lines = room === 0 ? [] : content.lines.slice(-room).map((line) => drawLine(line, columns));
  return [...head, ...lines].slice(0, Math.max(1, rows - 1)).map((line) => cut(printableLine(line), columns));
}

function drawLine(line: ScreenLine, columns: number): string {
  if ('text' in line) return `${line.time}  ${line.text}`;
  const { method, path, status, ms, isWhole } = line.request;
  const width = Math.max(10, columns - fixedColumns);
  const shown = path.length > width ? `${path.slice(0, width - 1)}~` : path.padEnd(width);
  const result = `${status ?? (isWhole ? '-' : 'cut')}`.padStart(3);
  return `${line.time}  ${method.padEnd(methodWidth)} ${shown} ${result} ${formatMs(ms).padStart(9)}`;
}

/** Blanks at the start stay, unlike in `printable`. */
function printableLine(line: string): string {
  return line === '' ? '' : printable(line);
}

function cut(line: string, columns: number): string {
  return line.length > columns ? line.slice(0, columns) : line;
}
