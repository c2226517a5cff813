import { newId } from '../../../src/lib/ids.ts';

/** What may stand in a URL, percent-encoded where it has to be, and is the id of nothing. */
export function hostileIds(realId: string, idOfAnotherKind: string): readonly string[] {
  const [prefix = '', body = ''] = realId.split('_');
  const swapped = [...body].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');
  return [
    '',
    'x'.repeat(501),
    `${prefix}_${'a'.repeat(5000)}`,
    ...['%00', `${realId}%00`, `%00${realId}`, `${prefix}_%00`, '%2500', '%0d%0aSet-Cookie:%20a=b', '%0a', '%7f'],
    ...[
      '%2f',
      '%2F..%2F',
      `${realId}%2f`,
      `..%2f${realId}`,
      '%5c',
      '\\',
      '.',
      '..',
      '...',
      '%2e%2e',
      '%2e',
      `${realId}/..`,
    ],
    ...['%', '%zz', '%f', '%ff', '%c0%af', '%ed%a0%80', '%f8%88%80%80%80'],
    ...['%C3%BC', '%F0%9F%92%A9', '%E2%80%AE', '%E2%80%A8', '%EF%BB%BF', `${realId}%CC%81`, '%EF%BC%A1'],
    ...[
      `'`,
      '"',
      '%22',
      '%27%20OR%201%3D1--',
      `'OR'1'='1`,
      `${realId}'--`,
      '1;DROP%20TABLE%20api_keys',
      '$1',
      '?1',
      '%25',
      '_',
      '*',
    ],
    ...[realId.toLowerCase(), realId.toUpperCase(), `${prefix}_${swapped}`, `${prefix.toUpperCase()}_${body}`],
    ...[
      `xx_${body}`,
      body,
      `_${body}`,
      prefix,
      `${prefix}_`,
      `${prefix}__${body}`,
      `${prefix}-${body}`,
      `${prefix}_${realId}`,
    ],
    ...[
      `${realId}%20`,
      `%20${realId}`,
      `${realId}+`,
      `${realId}.`,
      `${realId};a=b`,
      `${realId},${realId}`,
      `${realId}x`,
      realId.slice(0, -1),
    ],
    ...[idOfAnotherKind, newId(prefix), newId('ac'), newId('usr')],
    ...[
      '__proto__',
      'constructor',
      'toString',
      'null',
      'undefined',
      'true',
      '0',
      '-1',
      'NaN',
      '1e309',
      '{id}',
      ':id',
      '[]',
      '<script>',
    ],
  ].filter((id) => id !== realId);
}

/** What is no URL at all: bytes that may not stand in a request line. */
export const brokenTargets: readonly string[] = ['a b', 'a\u0000b', 'a\tb', 'a\rb', '\u0007'];

/** Text for any field: whatever an answer says of it, it is not our fault. */
export const hostileTexts: readonly string[] = [
  '',
  'a\u0000b',
  '\u001b[2J',
  'x\udc00y',
  '\u{1f4a9}'.repeat(50),
  'e\u0301\u202e\u2028\ufeff',
  `'; DROP TABLE api_keys; --`,
  '$1 ?1 %s ${process} {{x}}',
  '__proto__',
  '../../etc/passwd',
  '9'.repeat(400),
  'x'.repeat(70_000),
];
