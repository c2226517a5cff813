import type { MakeBody } from '../../../test/contract/support/examples.ts';

export const moduleExample: MakeBody = () => ({ to: 'https://www.example.com', status_code: 308, keep_path: true });
