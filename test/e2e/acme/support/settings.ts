import { directory } from './names.ts';

/** Limit for an order, on a machine that is busy with others. */
export const orderMs = 90_000;

/** Settings of a process that orders certificates, and that the names of the tests lead to. */
export const acmeOn = {
  acme: 'on',
  acmeEmail: 'operator@gatehouse-app.net',
  acmeDirectory: directory,
  httpsListen: '127.0.0.2:443',
  httpListen: '127.0.0.2:80',
} as const;
