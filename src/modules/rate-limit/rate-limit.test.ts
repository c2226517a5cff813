import assert from 'node:assert/strict';
import { test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { rateLimit } from './index.ts';

const given = { limit: 10, window_seconds: 60 };

test('what is left out has its default, and a header is known in lower case', () => {
  const stored = rateLimit.accept(given);
  assert.deepEqual(stored, { enabled: true, ...given, by: 'source', enforced: true });
  assert.deepEqual(
    rateLimit.present(stored, () => ({ id: '', uri: '' })),
    { ...stored, header: null },
  );
  assert.equal(rateLimit.accept({ ...given, by: 'header', header: 'X-Api-Key' }).header, 'x-api-key');
});

test('a header is named where it is counted by, and nowhere else', () => {
  for (const rest of [{ by: 'header' as const }, { header: 'x' }, { by: 'certificate' as const, header: 'x' }])
    assert.throws(() => rateLimit.accept({ ...given, ...rest }), UserError);
});

test('connections are counted by source alone', () => {
  const byHeader = rateLimit.accept({ ...given, by: 'header', header: 'x' });
  for (const target of ['tcp_edge', 'tls_edge'] as const) {
    assert.throws(() => rateLimit.checkTarget?.(byHeader, target), /by source alone/);
    rateLimit.checkTarget?.(rateLimit.accept(given), target);
  }
  rateLimit.checkTarget?.(byHeader, 'https_route');
});
