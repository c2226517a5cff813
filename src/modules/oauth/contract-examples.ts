import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  provider: {
    github: { client_id: 'gatehouse', client_secret: 'correct horse battery staple', organizations: ['example'] },
  },
});
