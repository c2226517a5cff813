import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makePair } from '../../../test/support/certificate-pair.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createSealer } from '../../lib/sealed-secret.ts';
import { certificateCompiler } from './compile.ts';

const path = '/tls_certificates';
const leaf = makePair('leaf', '-subj', '/CN=leaf.test');
const plain = makePair('plain', '-subj', '/CN=plain.test');
const keyLine = leaf.private_key_pem.split('\n')[1] ?? '';
const secretKey = 'the-key-that-seals-private-keys-0123456789';

onEachDatabase('sealed private keys', (newDatabase) => {
  test('a key is stored encrypted, for its own row only, and in no other place', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api', secretKey });
    const first = await gatehouse.create(path, leaf);
    const { queries } = gatehouse.app.context.store;
    const [row] = await queries.all('SELECT document, sealed_key FROM tls_certificates');
    const log = await queries.all('SELECT before, after FROM change_log');
    const kept = JSON.stringify([row, log]);
    assert.ok(!kept.includes(keyLine));
    assert.match(String(row?.[1]), /^gcm1:/);
    const second = await gatehouse.create(path, plain);
    await gatehouse.app.context.store.write({ id: 'test', accountId: '', operationId: '' }, async (transaction) => {
      const moved = 'UPDATE tls_certificates SET sealed_key = $1 WHERE id = $2';
      await transaction.run(moved, [row?.[1] ?? '', second.id]);
      transaction.record({ accountId: '', kind: 'test', id: '', before: null, after: null, cascades: false });
    });
    const compiler = certificateCompiler(createSealer(secretKey));
    const entries = await compiler.load(queries, [first.id, second.id]);
    assert.deepEqual(
      entries.map((entry) => 'fault' in entry && entry.fault?.replace(/cannot be used: .*/, 'cannot be used')),
      [false, 'its private key cannot be used'],
    );
  });

  test('without a secret key, one line at the start says that private keys are plain text and what to do', async () => {
    const database = await newDatabase();
    await using gatehouse = await Gatehouse.start(database, { role: 'api' });
    const [warning = '', ...more] = gatehouse.logLines.filter((line) => line.includes('plain text'));
    assert.deepEqual(more, []);
    assert.match(warning, /secret_key is not set.*Set GATEHOUSE_SECRET_KEY to at least 32 random characters/);
  });

  test('keys that were stored before there was a secret key are encrypted at the start, which says how many', async () => {
    const database = await newDatabase();
    {
      await using before = await Gatehouse.start(database);
      for (let at = 0; at < 52; at++) await before.create(path, leaf);
    }
    const kept = async (gatehouse: Gatehouse) => {
      const { queries } = gatehouse.app.context.store;
      const rows = await queries.all(
        'SELECT sealed_key FROM tls_certificates UNION ALL SELECT private_key FROM local_ca',
      );
      return rows.map(([sealed]) => String(sealed).slice(0, 5));
    };
    {
      await using gatehouse = await Gatehouse.start(database, { secretKey });
      const said = gatehouse.logLines.filter((line) => line.includes('plain text'));
      assert.equal(said.length, 1);
      assert.match(said[0] ?? '', /secret_key is new: (53|54) private keys .* are encrypted now/);
      assert.deepEqual(new Set(await kept(gatehouse)), new Set(['gcm1:']));
      const entries = await certificateCompiler(createSealer(secretKey)).load(
        gatehouse.app.context.store.queries,
        undefined,
      );
      assert.ok(entries.every((entry) => entry.kind === 'certificate' && entry.privateKeyPem === leaf.private_key_pem));
    }
    await using again = await Gatehouse.start(database, { secretKey });
    assert.ok(!again.logLines.some((line) => line.includes('plain text')));
  });

  test('with a secret key from the first start on, nothing is said', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api', secretKey });
    await gatehouse.create(path, leaf);
    assert.deepEqual(
      gatehouse.logLines.filter((line) => line.includes('"level":40')),
      [],
    );
  });

  test('with another key, or none, the service says so and does not start', async () => {
    const database = await newDatabase();
    const id = await (async () => {
      await using gatehouse = await Gatehouse.start(database, { role: 'api', secretKey });
      return (await gatehouse.create(path, leaf)).id;
    })();
    // Whichever is read first.
    const said = new RegExp(
      `the private key of the (?:TLS certificate ${id}|local certificate authority) cannot be used: .*secret_key`,
    );
    for (const settings of [{}, { secretKey: `another-${secretKey}` }]) {
      await assert.rejects(Gatehouse.start(database, { role: 'api', ...settings }), said);
    }
  });
});
