import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({ provider: 'github', secret: "It's a Secret to Everybody" });
