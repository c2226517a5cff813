import { fileURLToPath } from 'node:url';

import { isLong } from './long-form.ts';

/** First file of the program: what the run of tests has built, as operators run it, or the sources. */
export const programFile = process.env['TEST_PROGRAM'] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/**
 * Environment of a program that gets nothing of the test's but where programs and compiled code are. What does not look at
 * traffic has workers in the long form only: they double the time of a start.
 */
export const bareEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  GATEHOUSE_WORKERS: isLong ? 'auto' : 'off',
};
