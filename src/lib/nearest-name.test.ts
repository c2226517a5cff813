import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nearestName } from './nearest-name.ts';

const kinds = ['ip_policies', 'static_backends', 'https_edges', 'tls_edges'];

test('a word with a few wrong letters is the name that was meant, and so are its words in another order', () => {
  assert.equal(nearestName('ip_policys', kinds), 'ip_policies');
  assert.equal(nearestName('htpts_edges', kinds), 'https_edges');
  for (const other of ['edges_https', 'edges/https', 'Edges.HTTPS'])
    assert.equal(nearestName(other, kinds), 'https_edges');
});

test('another word is no name', () => {
  for (const other of ['edges', 'https', 'widgets', 'policies_of_ip', ''])
    assert.equal(nearestName(other, kinds), undefined);
});
