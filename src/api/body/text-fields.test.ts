import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { refuses } from '../../../test/support/refusals.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';

onAnyGatehouse('texts', (g) => {
  test('come back byte for byte, whatever they hold', async () => {
    const odd = [
      'a\0b',
      '\0',
      '\u2028\u2029',
      '\uFEFFx',
      'é vs é',
      '👩‍👩‍👧‍👦',
      '\u{10FFFF}',
      '</script>',
      "'; --",
      '\\u0000',
      '{"a":"\\u0000"}',
    ];
    for (const text of [...odd, ' ', '\n', '\u202e', '%00', '$1', 'null']) {
      const made = await g().create('/ip_policies', { description: text, metadata: text });
      const read = (await g().get(`/ip_policies/${made.id}`)).body;
      const listed = (await g().get('/ip_policies?limit=1')).body.ip_policies[0];
      for (const { description, metadata } of [made, read, listed])
        assert.deepEqual([description, metadata], [text, text]);
    }
  });

  test('have at most 255 and 4096 bytes of UTF-8, however few characters that is', async () => {
    const characters = fc.constantFrom('a', '\0', '"', '\\', 'é', '€', '中', '😀', '\u{10FFFF}');
    const fields = fc.constantFrom(['description', 255] as const, ['metadata', 4096] as const);
    const property = fc.asyncProperty(
      fields,
      characters,
      characters,
      fc.integer({ min: -4, max: 4 }),
      async (field, first, second, over) => {
        const [name, limit] = field;
        const text = fill(first, second, limit + over);
        const bytes = Buffer.byteLength(text);
        const answer = await g().post('/ip_policies', { [name]: text });
        assert.equal(answer.status, bytes <= limit ? 201 : 400, `${bytes} bytes of ${name}`);
        if (bytes <= limit) assert.equal((await g().get(`/ip_policies/${answer.body.id}`)).body[name], text);
        else assert.ok(answer.body.msg.includes(`${bytes} bytes`) && answer.body.msg.includes(String(limit)));
      },
    );
    await fc.assert(property, { numRuns: 35 });
  });

  test('any text that is well formed is kept, and any other is refused', async () => {
    const property = fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ maxLength: 3 }),
      async (text, tail) => {
        const made = await g().create('/ip_policies', { metadata: text });
        assert.equal((await g().get(`/ip_policies/${made.id}`)).body.metadata, text === '' ? undefined : text);
        for (const lone of ['\ud800', '\udfff', '\udc00\ud800']) {
          await refuses(g(), ['POST', '/ip_policies', { metadata: `${text}${lone}${tail}` }], 400, 20010);
        }
      },
    );
    await fc.assert(property, { numRuns: 10 });
  });
});

/** Text of about so many bytes, made of two characters. */
function fill(first: string, second: string, bytes: number): string {
  let text = second;
  while (Buffer.byteLength(text) + Buffer.byteLength(first) <= bytes) text += first;
  while (Buffer.byteLength(text) < bytes) text += second;
  return text;
}
