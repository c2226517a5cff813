import assert from 'node:assert/strict';

import { sourceFiles } from '../../../contract/support/source-files.ts';

/** Tells how many milliseconds of processor time were used so far. */
interface Meter {
  usedMs(): Promise<number>;
}

/** The time of this thread, where what is measured runs in it. */
export const thisThread: Meter = {
  async usedMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
};

/** Pieces that a stranger repeats: what readers skip, split at, quote, nest or look for. */
export const fillers = [
  '"',
  "'",
  ' ',
  '\t',
  '=',
  ';',
  ',',
  'a',
  '0',
  '.',
  '-',
  '/',
  ':',
  '(',
  '[',
  '{',
  '*',
  '@',
  '\\',
  '%41',
  '\\"',
  'a,',
  'a=',
  'a;',
  '"scope":[',
] as const;

/** Texts of which some filler fills the middle. The second makes readers of cookies look at the whole. */
const frames = [
  ['', 'x'],
  ['', 'x; y=gatehouse_visitor'],
  ['a', 'b'],
] as const;

/** Names of headers without a hyphen that HTTP knows. */
const shortNames =
  'accept age allow authorization connection cookie date etag expect expires forwarded from host ' +
  'link location origin pragma priority range referer server te trailer upgrade vary via warning';

/** Names of headers that the sources name, and those that HTTP knows. */
export function headerNames(...folders: readonly string[]): readonly string[] {
  const found = folders
    .flatMap((folder) => sourceFiles(folder))
    .flatMap(({ code }) => [...code.matchAll(/'([a-z][a-z0-9]*(?:-[a-z0-9]+)+)'/gi)].map(([, name = '']) => name));
  return [...new Set([...shortNames.split(' '), ...found.map((name) => name.toLowerCase())])].toSorted();
}

/** A text of about so many characters. */
export function pump(filler: string, size: number, frame: readonly [string, string] = frames[0]): string {
  return frame[0] + filler.repeat(Math.ceil(size / filler.length)) + frame[1];
}

export const cookieFrames: readonly (readonly [string, string])[] = frames;

/** Processor time below which a text is cheap whatever its size. */
const cheapMs = 5;
/** Four times the text may cost so many times as much; the square of four would be sixteen. */
const allowed = 8;
const tries = 5;

/**
 * Sends a text and one of four times its size, and fails where the program's processor time grows much faster than the text.
 * The least of several tries counts: garbage collection, compilation and other processes disturb single ones.
 */
export async function staysLinear(
  program: Meter,
  what: string,
  smallSize: number,
  send: (size: number) => Promise<unknown>,
): Promise<void> {
  const cost = async (size: number): Promise<number> => {
    const before = await program.usedMs();
    await send(size);
    return (await program.usedMs()) - before;
  };
  let [small, large] = [Infinity, Infinity];
  for (let attempt = 0; attempt < tries; attempt++) {
    large = Math.min(large, await cost(smallSize * 4));
    if (large < cheapMs * allowed) return;
    small = Math.min(small, await cost(smallSize));
    if (large < small * allowed) return;
  }
  assert.fail(
    `${what}: ${smallSize} characters cost ${small.toFixed(1)} ms, four times as many ${large.toFixed(1)} ms`,
  );
}
