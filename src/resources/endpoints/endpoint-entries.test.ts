import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

onGatehousesInTurn('cloud endpoints and vaults in configurations', (g) => {
  const newAdmin = async () => createUser(g(), 'admin', await createAccount(g()));
  const ending = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';
  const forwarding = (secret: string) =>
    JSON.stringify({
      on_http_request: [
        { actions: [{ type: 'add-headers', config: { headers: { key: `\${secrets.get('keys', '${secret}')}` } } }] },
        { actions: [{ type: 'deny' }] },
      ],
    });
  const endpoint = (more: object = {}) => ({
    kind: 'cloud_endpoints',
    name: 'front',
    url: 'https://front.internal',
    traffic_policy: ending,
    ...more,
  });
  const vault = { kind: 'vaults', name: 'keys', vault: 'keys' };

  test('the value of a secret leaves with no export, and secrets are made beside files', async () => {
    const admin = await newAdmin();
    const apply = (entries: readonly object[], query = '') => g().post(`/configuration${query}`, entries, admin);
    const missing = await apply([vault, endpoint({ traffic_policy: forwarding('token') })]);
    assert.deepEqual([missing.status, missing.body.error_code], [400, 'ERR_GATEHOUSE_18002']);
    // The plan knows the vault, which is new in the same file, and says what no file can have.
    assert.match(missing.body.msg, /cloud_endpoints "front": .*no secret named "token" in the vault "keys".*24009/);
    const planned = await apply([endpoint({ traffic_policy: forwarding('token') }), vault], '?dry_run=true');
    assert.equal(planned.body.msg, missing.body.msg);
    assert.equal((await apply([{ ...vault, description: 'ours' }])).status, 200);
    await g().create('/vault_secrets', { vault_name: 'keys', name: 'token', value: 'swordfish' }, admin);
    assert.equal((await apply([vault, endpoint({ traffic_policy: forwarding('token') })])).status, 200);
    const read = await g().get('/configuration', admin);
    assert.deepEqual(read.body.entries.at(-1), vault);
    assert.deepEqual(
      read.body.entries.map(({ kind }: { kind: string }) => kind),
      ['cloud_endpoints', 'vaults'],
    );
    assert.doesNotMatch(read.text, /swordfish/);
    // Nothing that files do not declare is deleted with what they prune.
    const pruned = await apply([endpoint()], '?prune=true');
    assert.deepEqual([pruned.status, pruned.body.error_code], [409, 'ERR_GATEHOUSE_23003']);
  });

  test('a password in the text of a policy is exported, and the description of the export says so', async () => {
    const admin = await newAdmin();
    const basic = { type: 'basic-auth', config: { realm: 'staff', credentials: ['ada:correct-horse'] } };
    const traffic_policy = JSON.stringify({ on_http_request: [{ actions: [basic, { type: 'deny' }] }] });
    assert.equal((await g().post('/configuration', [endpoint({ traffic_policy })], admin)).status, 200);
    assert.match((await g().get('/configuration', admin)).text, /ada:correct-horse/);
    const { paths } = (await g().get('/openapi.json')).body;
    assert.match(paths['/configuration'].get.description, /policies.* as they were given, with the passwords/);
  });

  test('an entry says all of an endpoint, whose scheme stays, and names the domain of the same file', async () => {
    const admin = await newAdmin();
    const apply = (entries: readonly object[], query = '') => g().post(`/configuration${query}`, entries, admin);
    assert.equal(
      (await apply([endpoint({ url: 'HTTPS://Front.internal:443', description: 'ours', pooling_enabled: true })]))
        .status,
      200,
    );
    const [entry] = (await g().get('/configuration', admin)).body.entries;
    assert.deepEqual(entry, endpoint({ description: 'ours', pooling_enabled: true }));
    const [{ id }] = (await g().get('/endpoints', admin)).body.endpoints;
    const domain = `entries-${id.slice(-8).toLowerCase()}.example.com`;
    const moved = [{ kind: 'reserved_domains', name: 'own', domain }, endpoint({ url: `https://${domain}` })];
    assert.deepEqual((await apply(moved)).body.changed, 1);
    const { body } = await g().get(`/endpoints/${id}`, admin);
    assert.deepEqual(
      [body.url, body.bindings, body.pooling_enabled, body.description ?? ''],
      [`https://${domain}`, ['public'], false, ''],
    );
    const other = await apply([endpoint({ url: 'http://front.internal' })]);
    assert.deepEqual([other.status, other.body.error_code], [400, 'ERR_GATEHOUSE_18005']);
    // Another entry takes the URL of one that goes.
    const renamed = await apply(
      [{ ...endpoint({ url: `https://${domain}` }), name: 'other' }, moved[0]!],
      '?prune=true',
    );
    assert.deepEqual([renamed.status, renamed.body.created, renamed.body.deleted], [200, 1, 1], renamed.text);
    const gone = await apply([], '?prune=true');
    assert.deepEqual([gone.status, gone.body.deleted], [200, 2]);
  });
});
