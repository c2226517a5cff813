/** True with `TEST_LONG=1`: every test in its long form, which may take a night. */
export const isLong = process.env['TEST_LONG'] === '1';

/** Number of rounds of a test: what still guards its promise, and what a night allows. */
export function rounds(usual: number, long: number): number {
  return isLong ? long : usual;
}
