import type { Random } from '../../../e2e/gateway/support/random.ts';
import { hostileTexts } from '../hostile-texts.ts';
import { resolveSchema } from '../operations.ts';
import type { Schema } from '../operations.ts';

/** Numbers at the edges of what programs and databases take for numbers. */
const numbers = [0, -0, 1, -1, 0.5, 100, 101, 443, 65_535, 65_536, 2 ** 31, -(2 ** 31), 2 ** 53, 1e21, 1e308, -1e-7];

/** Words that mean something to the service, in and out of their places. */
const words = [
  'allow',
  'deny',
  'api',
  'endpoints',
  'path_prefix',
  'exact_path',
  '/',
  '/a/../b',
  '10.0.0.0/8',
  '10.0.0.1/8',
  '::/0',
  '::ffff:1.2.3.4/128',
  '127.0.0.1:80',
  '[::1]:443',
  'localhost:0',
  'a.test:443',
  '*.a.test:443',
  'xn--:443',
  'x-a',
  'Host',
  'Transfer-Encoding',
  'a\r\nb: c',
];

const unicode = ['\ud800', '\udfff\ud800', '\u{10ffff}', '\u0000', '\u2028', 'ß', 'İ', '\u202e', 'a\u0301', '\ufeff'];

function randomText(random: Random): string {
  switch (random.below(8)) {
    case 0:
      return random.pick(hostileTexts);
    case 1:
      return random.pick(unicode);
    case 2:
      return random.pick(words) + random.pick(unicode);
    case 3:
      // Lengths around the limits of descriptions and metadata, in characters of one to four bytes.
      return random
        .pick(['a', 'ü', '€', '\u{1f4a9}'])
        .repeat(Math.max(0, random.pick([63, 64, 85, 127, 255, 1024, 4096]) + random.below(3) - 1));
    case 4:
      return Array.from({ length: random.below(12) }, () => String.fromCharCode(random.below(0x250))).join('');
    default:
      return random.pick(words);
  }
}

/** Returns any JSON value, of any type. */
export function randomValue(random: Random, ids: readonly string[], depth = 0): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.pick(numbers);
    case 3:
      return random.pick(ids);
    case 4:
    case 5:
      return randomText(random);
    case 6:
      return Array.from({ length: random.pick([0, 1, 2, 3, 70]) }, () => randomValue(random, ids, depth + 2));
    case 7:
      return { [random.pick(oddKeys)]: randomValue(random, ids, depth + 1) };
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [randomText(random), randomValue(random, ids, depth + 1)]),
      );
  }
}

/** Keys that every object has, or that programs treat in a way of their own. */
export const oddKeys = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '', 'id', 'uri', 'length', '$ref', '0'];

/** Returns a value of the type that the schema names; whether it is acceptable is another matter. */
export function valueFor(schema: Schema, random: Random, ids: readonly string[], depth = 0): unknown {
  const { type, properties, items, anyOf, examples = [] } = resolveSchema(schema);
  if (anyOf !== undefined) return valueFor(random.pick(anyOf), random, ids, depth);
  if (examples.length > 0 && random.below(3) === 0) return random.pick(examples);
  const one = typeof type === 'object' ? random.pick(type) : type;
  switch (one) {
    case 'string':
      return random.below(3) === 0 ? random.pick(ids) : randomText(random);
    case 'integer':
    case 'number':
      return random.pick(numbers);
    case 'boolean':
      return random.below(2) === 0;
    case 'array':
      return Array.from({ length: random.below(4) }, () => valueFor(items ?? {}, random, ids, depth + 1));
    case 'object':
      if (properties === undefined || depth > 5) return { [randomText(random)]: randomText(random) };
      return Object.fromEntries(
        Object.entries(properties).flatMap(([name, property]) =>
          random.below(3) === 0 ? [] : [[name, valueFor(property, random, ids, depth + 1)]],
        ),
      );
    default:
      return randomValue(random, ids, depth);
  }
}
