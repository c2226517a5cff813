/** True with `TEST_LONG=1`: every test in its long form, which may take a night. */
export const isLong = process.env['TEST_LONG'] === '1';

/**
 * Number of a whole run, which `npm test` takes from the commit: what the run of one leaves out, that of another takes.
 * `TEST_TURN=n` repeats it; undefined where files are named.
 */
export const turn = process.env['TEST_TURN'] === undefined ? undefined : Number(process.env['TEST_TURN']);

/** Every nth of the cases in a whole run, others in each; all in the long form, and where files are named. */
export function inTurn<Case>(cases: readonly Case[], every: number): readonly Case[] {
  return isLong || turn === undefined ? cases : cases.filter((_, at) => (at + turn) % every === 0);
}

/** Number of rounds of a test: what still guards its promise, and what a night allows. */
export function rounds(usual: number, long: number): number {
  return isLong ? long : usual;
}
