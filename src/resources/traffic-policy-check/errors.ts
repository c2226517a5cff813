import { defineError } from '../../errors/user-error.ts';

export const urlRefused = defineError(
  20381,
  400,
  'The url {url} of the described request cannot be tried: {reason}. Write it like https://shop.example.com/cart, or tcp://tcp.example.com:5432 for a connection.',
);

export const headerRefused = defineError(
  20382,
  400,
  'The header {name} of the described {what} cannot be tried: {reason}. Give names of headers, each with a value on one line.',
);
