import type { Random } from '../../../e2e/gateway/support/random.ts';
import { resolveSchema } from '../operations.ts';
import type { Schema } from '../operations.ts';
import { oddKeys, randomValue, valueFor } from './values.ts';

interface BodySource {
  readonly schema: Schema;
  /** A body that was accepted, or would be. */
  readonly example: unknown;
  /** Ids of every kind, of this account and others. */
  readonly ids: readonly string[];
}

/** Makes the bytes of a body: as they should be, made from the schema, mutated as a value, or mutated as text. */
export function randomBody(random: Random, source: BodySource): Buffer {
  const { schema, example, ids } = source;
  switch (random.below(8)) {
    case 0:
    case 1:
      return encode(example);
    case 2:
      return encode(valueFor(schema, random, ids));
    case 3:
      return mutateText(JSON.stringify(example) ?? '', random);
    case 4:
      return encode(randomValue(random, ids));
    default:
      return encode(mutate(example, random, source));
  }
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value) ?? '');
}

/** Changes one to three fields of an object: another value, another of the schema, gone, or one more. */
function mutate(value: unknown, random: Random, { schema, ids }: BodySource): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return randomValue(random, ids);
  const { properties = {} } = resolveSchema(schema);
  const fields = new Map<string, unknown>(Object.entries(value));
  for (let left = 1 + random.below(3); left > 0; left--) {
    const known = [...new Set([...Object.keys(properties), ...fields.keys()])];
    const name = known.length === 0 ? 'x' : random.pick(known);
    switch (random.below(6)) {
      case 0:
        fields.delete(name);
        break;
      case 1:
        fields.set(random.pick(oddKeys), randomValue(random, ids));
        break;
      case 2:
        fields.set(name, randomValue(random, ids));
        break;
      case 3:
        fields.set(name, null);
        break;
      default:
        fields.set(name, valueFor(properties[name] ?? {}, random, ids));
    }
  }
  return Object.fromEntries(fields);
}

const insertions = [
  '"__proto__":{"enabled":true},',
  '"constructor":{"prototype":{}},',
  '"description":"\\ud800",',
  '"description":"a","description":"b",',
  '"x":1e999,',
  '"x":-0,',
  `"x":${'9'.repeat(400)},`,
  `"x":${'['.repeat(500)}${']'.repeat(500)},`,
  '\u0000',
  '/**/',
];

/** Breaks JSON as text: duplicate keys, huge numbers, deep lists, lone surrogates, bytes that are no UTF-8. */
function mutateText(text: string, random: Random): Buffer {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return Buffer.from(text.replace('{', `{${random.pick(insertions)}`).replace(/,\}$/, '}'));
    case 1:
      return Buffer.from(text.slice(0, at));
    case 2:
      return Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Buffer.from([random.below(256)]),
        Buffer.from(text.slice(at)),
      ]);
    case 3:
      return Buffer.from(`\ufeff${text}`);
    case 4:
      return Buffer.from(text + random.pick(['{}', ']', ' ', '\n\n', 'x', '\u0000']));
    default:
      return Buffer.from(text, random.pick(['utf16le', 'latin1']));
  }
}
