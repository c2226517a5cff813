import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({ strip_prefix: '/api', add_prefix: '/v2' });
