import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertLinear } from '../../../../test/support/linear-work.ts';
import { withoutSessionCookie, withoutSetSession } from './session-cookie.ts';

const mark = 'gatehouse_visitor';
/** Characters that some reader drops around a name, and others. */
const fillers = ['"', "'", ' ', '\t', '\u00a0', '=', ';', 'x', '" ', '= ', "x'", 'gatehouse_', 'gatehouse_visitor'];

test('a cookie of any length is read in one pass, whatever it is made of', () => {
  for (const filler of fillers) {
    const fill = (length: number) => filler.repeat(length / filler.length);
    for (const [name, make] of [
      ['before a name', (length: number) => `${fill(length)}x; y=${mark}`],
      ['after a name', (length: number) => `${mark}${fill(length)}x`],
      ['around a name', (length: number) => `${fill(length / 2)}a${fill(length / 2)}x; ${mark}`],
    ] as const) {
      assertLinear(`Cookie with ${JSON.stringify(filler)} ${name}`, make, withoutSessionCookie);
      assertLinear(`Set-Cookie with ${JSON.stringify(filler)} ${name}`, make, (value) =>
        withoutSetSession(['Set-Cookie', value]),
      );
    }
  }
});

test('cookies of visitors who have signed in go to no upstream, and no upstream sets one, however the name is written', () => {
  const spellings = [
    `__Host-${mark}_0123456789ab=x`,
    `__Host-mine_${mark}_0123456789ab=x`,
    `__host-GATEHOUSE_Visitor_login_0123456789ab=x`,
    ` "${mark}" =x`,
    `=${mark}=x`,
    `'= "${mark}`,
    `\u00a0${mark}\t=x`,
    `a ${mark}=x`,
  ];
  for (const each of spellings) {
    assert.equal(withoutSessionCookie(`a=1;${each}; b=2`), 'a=1; b=2', each);
    assert.equal(withoutSessionCookie(each), '', each);
    assert.deepEqual(withoutSetSession(['Set-Cookie', `${each}; Path=/`, 'A', 'b']), ['A', 'b'], each);
  }
  for (const each of [`a=${mark}`, `a=b ${mark}=x`, 'gatehouse_session_other=1', "''=''", '==', ''])
    assert.deepEqual(
      [withoutSessionCookie(`${each}; ${mark}=x`), withoutSetSession(['set-cookie', each])],
      [each, ['set-cookie', each]],
    );
});
