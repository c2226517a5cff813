import { fileURLToPath } from 'node:url';

import { isLong } from './long-form.ts';

/** First file of the program: what the run of tests has built, as operators run it, or the sources. */
export const programFile = process.env['TEST_PROGRAM'] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/**
 * Starts of the program take a tenth less with a young generation of the heap that is as large from the beginning as it may
 * become, and without threads for its collection.
 */
const startFlags = ['--min-semi-space-size=16', '--max-semi-space-size=16', '--single-threaded-gc'];

/** The words of a command line that runs the program: the launcher, which has tests of its own, would start as many programs again. */
export const programWords: readonly [file: string, ...args: string[]] = [process.execPath, ...startFlags, programFile];

/** What does not look at traffic has workers in the long form only: they double the time of a start. */
export const workersBeside = isLong ? 'auto' : 'off';

/** Environment of a program that gets nothing of the test's but where programs and compiled code are. */
export const bareEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  // The local page of each agent would take ports that others expect to be free.
  GATEHOUSE_INSPECT: 'off',
  GATEHOUSE_WORKERS: workersBeside,
};
