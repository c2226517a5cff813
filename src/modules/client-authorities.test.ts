import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClientAuthority } from '../../test/support/client-certificates.ts';
import { UserError } from '../errors/user-error.ts';
import { maxAuthorities, readAuthorities } from './client-authorities.ts';

const authority = new ClientAuthority('clients');
const other = new ClientAuthority('others');

test('authorities are kept without the notes between them', () => {
  const pem = authority.pem + other.pem;
  assert.equal(readAuthorities(`ours:\n${authority.pem}theirs:\n${other.pem}`), pem);
  assert.equal(readAuthorities(pem), pem);
});

test('a certificate that may sign no others is none of an authority, nor is a key or a note', () => {
  const { cert, key } = authority.sign('ada');
  for (const pem of [
    cert,
    authority.pem + cert,
    authority.pem + key,
    'a note',
    '',
    other.pem.repeat(maxAuthorities + 1),
  ])
    assert.throws(() => readAuthorities(pem), UserError);
  assert.equal(readAuthorities(other.pem.repeat(maxAuthorities)), other.pem.repeat(maxAuthorities));
});
