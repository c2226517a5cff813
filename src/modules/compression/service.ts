export type { Coding } from './accept-encoding.ts';
export { encodeAnswer } from './encode-response.ts';
