import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readDocument } from './read-text.ts';

const refused = (text: string, reason: RegExp) => assert.throws(() => readDocument(text), reason);

test('a key that stands twice is refused, wherever it stands', () => {
  refused('a: 1\nb: 2\na: 3', /same key twice/);
  refused('- a: {b: 1, "b": 2}', /same key twice/);
  refused('{"a": {"b": 1, "b": 2}}', /same key twice/);
  assert.deepEqual(readDocument('- a: 1\n- a: 2'), [{ a: 1 }, { a: 2 }]);
});

test('YAML that would take long to read is refused before it is read', () => {
  refused(`a: "${'x'.repeat(8_192)}"`, /too long.*8192 bytes/);
  refused('['.repeat(501), /more than 500/);
  refused('{a: '.repeat(501), /more than 500/);
  refused('- '.repeat(1_500), /more than 500/);
  assert.deepEqual(
    readDocument(`[${'[],'.repeat(400)}]`),
    Array.from({ length: 400 }, () => []),
  );
});
