import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({ credentials: [{ username: 'ada', password: 'correct horse' }] });
