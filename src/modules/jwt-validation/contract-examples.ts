import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({
  issuer: 'https://id.example.com',
  audiences: ['https://api.example.com'],
});
