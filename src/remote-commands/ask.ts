import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

import type { Host } from '../command-line/host.ts';
import { CommandFault } from './exit.ts';

type Terminal = Pick<Host, 'stdin' | 'stderr'>;

/** Asks on standard error, so that standard output holds the result alone. */
export async function ask({ stdin, stderr }: Terminal, question: string): Promise<string> {
  return answer(createInterface({ input: stdin, output: stderr, terminal: false }), question);
}

/** The same, without showing what is typed. */
export async function askSecret({ stdin, stderr }: Terminal, question: string): Promise<string> {
  // A terminal interface switches the echo of the terminal off and writes each key itself: here, to nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true });
  // Asked when the echo is off, since an answer may come at once.
  stderr.write(question);
  try {
    return await answer(lines, '');
  } finally {
    stderr.write('\n');
  }
}

/** True where somebody sees a question and can answer; standard output may go to a file. */
export function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY && stderr.isTTY;
}

/** Asks where somebody can answer; a program that calls the command has decided already. */
export async function isConfirmed(host: Terminal, question: string): Promise<boolean> {
  if (!canAsk(host)) return true;
  return /^y(?:es)?$/i.test((await ask(host, `${question} [y/N] `)).trim());
}

/** The first line of a pipe or file. */
export async function readLine(stdin: Host['stdin']): Promise<string> {
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}

async function answer(lines: ReturnType<typeof createInterface>, question: string): Promise<string> {
  const stopping = new AbortController();
  // Ctrl-C, or the end of the input.
  lines.once('SIGINT', () => stopping.abort());
  lines.once('close', () => stopping.abort());
  try {
    return await lines.question(question, { signal: stopping.signal });
  } catch {
    throw new CommandFault('nothing was answered, and nothing is changed');
  } finally {
    lines.close();
  }
}
