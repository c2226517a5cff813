import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  issuer: 'https://id.example.com/realms/staff',
  client_id: 'gatehouse',
  client_secret: 'correct horse battery staple',
});
