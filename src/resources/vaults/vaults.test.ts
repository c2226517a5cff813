import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser, newName } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { newSqlite } from '../../../test/support/scratch.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { vaultCompilers } from './compile.ts';
import { vaultNames } from './service.ts';
import { vaultSecrets } from './table.ts';

const value = 'whsec_never-shown';

onEachGatehouse('vaults', (g) => {
  const newVault = () => g().create('/vaults', { name: newName('vault').replace(' ', '-') });
  const newSecret = (vault_id: string, name = newName('secret').replace(' ', '-')) =>
    g().create('/vault_secrets', { vault_id, name, value });
  const sealedOf = async (id: string) => {
    const { store } = g().app.context;
    return String((await store.queries.all('SELECT sealed_value FROM vault_secrets WHERE id = $1', [id]))[0]?.[0]);
  };

  test('a vault and its secret have every field, and nothing ever shows the value', async () => {
    const vault = await g().create('/vaults', { name: 'pay/ments_1.a-b', description: 'd', metadata: 'm' });
    assert.match(vault.id, /^vault_[0-9A-Za-z]{27}$/);
    assert.match(vault.created_by, /^usr_/);
    assert.equal(vault.last_updated_by, vault.created_by);
    assert.equal(vault.updated_at, vault.created_at);
    const secret = await g().create('/vault_secrets', { vault_name: vault.name, name: 'stripe', value });
    const { id, uri, created_at, ...rest } = secret;
    assert.match(id, /^secret_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/vault_secrets/${id}`);
    const by = { id: vault.created_by, uri: '' };
    assert.deepEqual(rest, {
      updated_at: created_at,
      name: 'stripe',
      vault: { id: vault.id, uri: vault.uri },
      vault_name: vault.name,
      created_by: by,
      last_updated_by: by,
    });
    await g().patch(`/vault_secrets/${id}`, { value: `${value}-2` });
    const paths = [`/vault_secrets/${id}`, '/vault_secrets', `/vaults/${vault.id}/secrets`, '/changes'];
    for (const path of paths) assert.ok(!(await g().get(path)).text.includes(value), path);
    await refuses(g(), ['PATCH', `/vault_secrets/${id}`, { value: 5 }], 400, 24003);
  });

  test('gateways get each secret with its newest value, however many there are', async () => {
    const { id: vaultId } = await newVault();
    const { id } = await newSecret(vaultId);
    await g().patch(`/vault_secrets/${id}`, { value: 'the newest' });
    const { store, sealer } = g().app.context;
    const first = (await vaultSecrets.load(store.queries, id)) ?? assert.fail('it was made');
    await store.write({ id: 'host', accountId: first.account_id, operationId: '' }, async (transaction) => {
      for (let at = 0; at < 250; at++) {
        const next = { ...first, ...vaultSecrets.newDocument(first.account_id), name: `many-${at}` };
        await vaultSecrets.insert(transaction, next, [sealer.seal(`value ${at}`, next.id)]);
      }
    });
    const [, secrets] = vaultCompilers(sealer);
    const entries = (await secrets?.load(store.queries, undefined)) ?? [];
    const own = entries.flatMap((entry) => (entry.kind === 'vault_secret' && entry.vaultId === vaultId ? [entry] : []));
    const values = new Map(own.map((entry) => [entry.name, entry.value]));
    assert.equal(values.size, 251);
    assert.deepEqual(
      [values.get(first.name), values.get('many-0'), values.get('many-249')],
      ['the newest', 'value 0', 'value 249'],
    );
  });

  test('each new value is stored and is a change of its own, within one second too', async () => {
    const { id: vaultId } = await newVault();
    const { id } = await newSecret(vaultId);
    const count = async () => (await g().get(`/changes?resource_id=${id}`)).body.changes.length;
    const before = [await sealedOf(id), await count()];
    for (const next of ['one', 'two'])
      assert.equal((await g().patch(`/vault_secrets/${id}`, { value: next })).status, 200);
    assert.notEqual(await sealedOf(id), before[0]);
    assert.equal(await count(), Number(before[1]) + 2);
    const last = await sealedOf(id);
    assert.equal((await g().patch(`/vault_secrets/${id}`, { description: 'only a text' })).status, 200);
    assert.equal(await sealedOf(id), last);
  });

  test('what is no name or value, or is too long, is refused by its own number', async () => {
    const { id: vault_id } = await newVault();
    const long = 'n'.repeat(256);
    for (const [name, code] of [
      ['', 23001],
      ['a b', 23000],
      ['a\0', 23000],
      [long, 23002],
      [undefined, 23001],
    ] as const) {
      await refuses(g(), ['POST', '/vaults', { name }], 400, code);
    }
    for (const [name, code] of [
      ['', 24001],
      ['ä', 24000],
      [long, 24002],
      [undefined, 24001],
    ] as const) {
      await refuses(g(), ['POST', '/vault_secrets', { name, value, vault_id }], 400, code);
    }
    for (const [wrong, code] of [
      ['', 24003],
      [undefined, 24003],
      ['v'.repeat(16_385), 24004],
    ] as const) {
      const message = await refuses(g(), ['POST', '/vault_secrets', { name: 'n', value: wrong, vault_id }], 400, code);
      assert.ok(!message.includes('vvv'));
    }
    const { id } = await newSecret(vault_id);
    await refuses(g(), ['PATCH', `/vault_secrets/${id}`, { value: '' }], 400, 24003);
    await refuses(g(), ['PATCH', `/vault_secrets/${id}`, { vault_name: 'other' }], 400, 20190);
  });

  test('a name is taken once: in the account, and in the vault', async () => {
    const [vault, other] = [await newVault(), await newVault()];
    const secret = await newSecret(vault.id, 'twice');
    await newSecret(other.id, 'twice');
    const message = await refuses(g(), ['POST', '/vaults', { name: vault.name }], 409, 23004);
    assert.ok(message.includes(vault.id));
    await refuses(g(), ['PATCH', `/vaults/${other.id}`, { name: vault.name }], 409, 23004);
    await refuses(g(), ['POST', '/vault_secrets', { vault_id: vault.id, name: 'twice', value }], 409, 24005);
    const third = await newSecret(vault.id);
    const clash = await refuses(g(), ['PATCH', `/vault_secrets/${third.id}`, { name: 'twice' }], 409, 24005);
    assert.ok(clash.includes(secret.id));
  });

  test('a vault is named by id or by name, and must be of the account', async () => {
    const [vault, other] = [await newVault(), await newVault()];
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    const post = (body: object, code: number, options = {}) =>
      refuses(g(), ['POST', '/vault_secrets', { name: 's', value, ...body }, options], 400, code);
    await post({}, 24008);
    await post({ vault_id: '', vault_name: '' }, 24008);
    await post({ vault_id: 'vault_nope' }, 24006);
    await post({ vault_name: 'nope' }, 24009);
    await post({ vault_name: 'no\0pe' }, 24009);
    await post({ vault_id: vault.id, vault_name: other.name }, 24009);
    await post({ vault_id: vault.id }, 24006, { token: stranger.token });
    await post({ vault_name: vault.name }, 24009, { token: stranger.token });
    const { id } = await newSecret(vault.id);
    for (const path of [`/vaults/${vault.id}`, `/vaults/${vault.id}/secrets`, `/vault_secrets/${id}`]) {
      assert.equal((await g().get(path, { token: stranger.token })).status, 404, path);
    }
  });

  test('the secrets of a vault are listed in pages, and a vault that has some is not deleted', async () => {
    const vault = await newVault();
    const made = [await newSecret(vault.id), await newSecret(vault.id), await newSecret(vault.id)];
    const ids = made.map(({ id }) => id).toReversed();
    const first = (await g().get(`/vaults/${vault.id}/secrets?limit=2`)).body;
    const second = (await g().get(first.next_page_uri.slice(g().url.length))).body;
    const listed = [...first.secrets, ...second.secrets].map(({ id }: { id: string }) => id);
    assert.deepEqual([listed, second.next_page_uri], [ids, null]);
    const filter = encodeURIComponent(`obj.name == '${made[1]?.name}'`);
    const filtered = (await g().get(`/vaults/${vault.id}/secrets?filter=${filter}`)).body.secrets;
    assert.deepEqual([filtered.length, filtered[0].id], [1, made[1]?.id]);
    const message = await refuses(g(), ['DELETE', `/vaults/${vault.id}`], 409, 23003);
    assert.ok(message.includes(made[0]?.name ?? '?'));
    for (const id of ids) assert.equal((await g().delete(`/vault_secrets/${id}`)).status, 204);
    assert.equal((await g().delete(`/vaults/${vault.id}`)).status, 204);
  });

  test('a change of a name is set back, also behind a later change of another field', async () => {
    const vault = await newVault();
    await g().patch(`/vaults/${vault.id}`, { name: `${vault.name}-2` });
    const { body } = await g().get(`/changes?resource_id=${vault.id}`);
    await g().patch(`/vaults/${vault.id}`, { description: 'later' });
    assert.equal((await g().post(`/changes/${body.changes[0].id}/revert`)).status, 200);
    const { name, description } = (await g().get(`/vaults/${vault.id}`)).body;
    assert.deepEqual([name, description], [vault.name, 'later']);
  });

  test('others find a secret by the names of vault and secret', async () => {
    const vault = await newVault();
    const {
      name,
      vault: { id: vaultId },
    } = await newSecret(vault.id);
    assert.equal(vaultId, vault.id);
    const { services, store } = g().app.context;
    const [{ account_id = '' } = {}] = [
      JSON.parse(String((await store.queries.all('SELECT document FROM vaults WHERE id = $1', [vault.id]))[0]?.[0])),
    ];
    const find = (...[of, wanted]: readonly [string, string]) =>
      services.get(vaultNames).find(store.queries, account_id, of, wanted);
    assert.equal(await find(vault.name, name), 'found');
    assert.equal(await find(vault.name, 'other'), 'no secret');
    assert.equal(await find('other', name), 'no vault');
    assert.equal(await find('o\0', 'n\0'), 'no vault');
  });

  test('who changed it last is told, and who made it stays', async () => {
    const account = await createAccount(g());
    const [maker, changer] = [await createUser(g(), 'admin', account), await createUser(g(), 'member', account)];
    const { id, created_by } = await g().create('/vaults', { name: 'ours' }, maker);
    const secret = await g().create('/vault_secrets', { vault_id: id, name: 'key', value: 'v' }, maker);
    const changed = (await g().patch(`/vaults/${id}`, { description: 'd' }, changer)).body;
    assert.equal(changed.created_by, created_by);
    assert.notEqual(changed.last_updated_by, created_by);
    const { body } = await g().patch(`/vault_secrets/${secret.id}`, { value: 'w' }, changer);
    assert.deepEqual([body.created_by.id, body.last_updated_by.id], [created_by, changed.last_updated_by]);
  });
});

test('a value is sealed for its secret, the first one and each later one', async () => {
  const secretKey = 'k'.repeat(43);
  await using gatehouse = await Gatehouse.start(newSqlite(), { role: 'api', secretKey });
  const { store, sealer } = gatehouse.app.context;
  const { id: vault_id } = await gatehouse.create('/vaults', { name: 'v' });
  const { id } = await gatehouse.create('/vault_secrets', { vault_id, name: 's', value });
  const [, secrets] = vaultCompilers(sealer);
  for (const next of [value, `${value}-2`]) {
    await gatehouse.patch(`/vault_secrets/${id}`, { value: next });
    const [entry] = (await secrets?.load(store.queries, [id])) ?? [];
    assert.deepEqual(entry, { kind: 'vault_secret', id, vaultId: vault_id, name: 's', value: next });
    const [[sealed] = []] = await store.queries.all('SELECT sealed_value FROM vault_secrets WHERE id = $1', [id]);
    assert.ok(!String(sealed).includes(value), 'it is sealed');
  }
});
