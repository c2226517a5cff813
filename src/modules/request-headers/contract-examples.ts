import { unique } from '../../../test/contract/support/examples.ts';
import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  add: { 'x-made-by': `test ${unique()}` },
  remove: ['x-internal'],
});
