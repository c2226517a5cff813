import assert from 'node:assert/strict';
import { test } from 'node:test';

import { finishNow } from '../../../lib/steps.ts';
import { documentSteps } from './read-text.ts';

const readDocument = (text: string) => finishNow(documentSteps(text));

const refused = (text: string, reason: RegExp) => assert.throws(() => readDocument(text), reason);

test('a key that stands twice is refused, wherever it stands', () => {
  refused('a: 1\nb: 2\na: 3', /same key twice/);
  refused('- a: {b: 1, "b": 2}', /same key twice/);
  refused('{"a": {"b": 1, "b": 2}}', /same key twice/);
  assert.deepEqual(readDocument('- a: 1\n- a: 2'), [{ a: 1 }, { a: 2 }]);
});

test('YAML that would take long to read is refused before it is read', () => {
  refused(`a: "${'x'.repeat(8_192)}"`, /too long.*8192 bytes/);
  const dense: readonly string[] = [
    '['.repeat(701),
    '{a: '.repeat(351),
    '- '.repeat(701),
    'a: 1\n'.repeat(351),
    '- a\n'.repeat(351),
    '#\n'.repeat(351),
    'a:\t'.repeat(701),
    '}'.repeat(701),
    '&a *a !a '.repeat(250),
  ];
  for (const text of dense) refused(text, /lines, keys, items and brackets, where 700 are allowed\. Write it as JSON/);
  assert.deepEqual(
    readDocument(`[${'[],'.repeat(230)}]`),
    Array.from({ length: 230 }, () => []),
  );
});

test('a policy as people write it has room: 30 rules with comments', () => {
  const rule = (at: number) => `
  # Requests to service ${at} of the shop go to the team that runs it.
  - name: service ${at}
    expressions:
      - "req.url.path.startsWith('/service-${at}/') && req.method in ['GET', 'POST']"
    actions:
      - type: forward-internal
        config: { url: "https://service-${at}.internal" }
`;
  const text = `on_http_request:${Array.from({ length: 28 }, (_, at) => rule(at)).join('')}`;
  const { on_http_request: rules } = readDocument(text) as { readonly on_http_request: readonly object[] };
  assert.equal(rules.length, 28);
});

test('of a text with very many faults the first is told, and no fault has a stack', () => {
  const { stackTraceLimit } = Error;
  refused(`a: ${'}'.repeat(600)}`, /neither JSON nor YAML/);
  assert.equal(Error.stackTraceLimit, stackTraceLimit);
});
