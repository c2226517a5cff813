import { test } from 'node:test';

import { assertLinear } from '../../../../test/support/linear-work.ts';
import { hiddenByConnection, sortHeaders } from './forward-headers.ts';

const facts = {
  host: 'app.test',
  scheme: 'https',
  peer: '192.0.2.1',
  peerTrusted: true,
  guard: undefined,
} as const;

test('any number of headers costs what they are long, whichever they are and whatever they name', () => {
  for (const name of ['Connection', 'X-Forwarded-For', 'X-Forwarded-Host', 'Cookie', 'TE', 'Expect', 'X-Other']) {
    const make = (length: number) => Array.from({ length: length / 16 }, (_, at) => at.toString(36)).join(' ');
    const read = (text: string) => text.split(' ').flatMap((value) => [name, value]);
    assertLinear(`sorting ${name}`, make, (text) => sortHeaders(read(text), facts));
    assertLinear(`hiding by ${name}`, make, (text) => hiddenByConnection(read(text), 'all'));
  }
});
