import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser, newName, runOnHost } from '../../test/support/people.ts';
import { countAgain } from '../../test/support/quota-counts.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onEachGatehouse } from '../../test/support/shared-gatehouse.ts';
import { policiesTooLarge } from '../errors/shared.ts';

let port = 20_000;
function free(): number {
  port += 1;
  return port;
}

const deny = [{ type: 'deny' }];
const rules = (count: number) => [
  ...Array.from({ length: count }, (_, at) => ({ expressions: [`conn.client_ip == '192.0.2.${at}'`], actions: deny })),
  { actions: deny },
];
const policy = (phase: string, count: number) => JSON.stringify({ [phase]: rules(count) });

interface Account {
  readonly create: (path: string) => Promise<{ readonly id: string }>;
}

/** What may have policies: a call that gives a new one a policy of so many rules, and one that changes it. */
const holders: Readonly<
  Record<
    string,
    (account: Account) => Promise<{
      readonly call: (count: number) => readonly [method: string, path: string, body: unknown];
      readonly pathOf: (made: { readonly id: string }) => string;
    }>
  >
> = {
  'cloud endpoints': async () => ({
    call: (count) => [
      'POST',
      '/endpoints',
      {
        url: `https://p${free()}.internal`,
        bindings: ['internal'],
        traffic_policy: policy('on_http_request', count),
      },
    ],
    pathOf: ({ id }) => `/endpoints/${id}`,
  }),
  routes: async ({ create }) => {
    const { id: edge } = await create('/edges/https');
    return {
      call: (count) => [
        'POST',
        `/edges/https/${edge}/routes`,
        {
          match_type: 'path_prefix',
          match: `/${newName('route')}`,
          traffic_policy: { value: policy('on_http_request', count) },
        },
      ],
      pathOf: ({ id }) => `/edges/https/${edge}/routes/${id}`,
    };
  },
  'TCP edges': async () => ({
    call: (count) => ['POST', '/edges/tcp', { traffic_policy: { value: policy('on_tcp_connect', count) } }],
    pathOf: ({ id }) => `/edges/tcp/${id}`,
  }),
  'the older module of TLS edges': async () => ({
    call: (count) => ['POST', '/edges/tls', { policy: { inbound: rules(count) } }],
    pathOf: ({ id }) => `/edges/tls/${id}`,
  }),
};

onEachGatehouse('memory of traffic policies', (g) => {
  for (const [name, prepare] of Object.entries(holders)) {
    test(`${name}: refused beyond the quota with nothing stored, and free again after a deletion`, async () => {
      const account = await newAccount();
      const { call, pathOf } = await prepare(account);
      const send = async (count: number) => {
        const { status, text, body } = await g().call(...call(count), account.options);
        assert.equal(status, 201, text);
        return body;
      };
      const before = await account.used();
      const small = await send(2);
      const ofSmall = (await account.used()) - before;
      const large = await send(200);
      const ofLarge = (await account.used()) - before - ofSmall;
      assert.ok(ofLarge > 20 * ofSmall, `${ofLarge} KiB are counted for 200 rules, ${ofSmall} for two`);
      await account.set(before + ofSmall * 2 + ofLarge);
      const message = await refuses(g(), [...call(200), account.options], 403, policiesTooLarge.code);
      assert.ok(message.includes(`about ${ofLarge} KiB of memory`), message);
      assert.ok(message.includes(`beside ${ofLarge + ofSmall} KiB`), message);
      assert.ok(message.includes(`gatehouse accounts quotas --account ${account.account}`), message);
      await send(2);
      // What has a policy already may be changed, and have a smaller one.
      const { status } = await g().patch(pathOf(large), { metadata: 'another' }, account.options);
      assert.equal(status, 200);
      assert.equal(await account.used(), before + ofLarge + 2 * ofSmall);
      assert.equal((await g().delete(pathOf(large), account.options)).status, 204);
      assert.equal(await account.used(), before + 2 * ofSmall);
      await send(200);
      await g().delete(pathOf(small), account.options);
      await countAgain(g());
    });
  }

  test('a module that is replaced, switched off, or deleted counts as what is left', async () => {
    const account = await newAccount();
    const { id } = await account.create('/edges/tcp');
    const path = `/edges/tcp/${id}/traffic_policy`;
    const put = (value: string, enabled = true) => g().put(path, { value, enabled }, account.options);
    assert.equal((await put(policy('on_tcp_connect', 200))).status, 200);
    const large = await account.used();
    assert.equal((await put(policy('on_tcp_connect', 220))).status, 200);
    await account.set(await account.used());
    assert.equal((await put(policy('on_tcp_connect', 200))).status, 200);
    assert.equal((await put(policy('on_tcp_connect', 220))).status, 200, 'it counts once');
    assert.equal((await put(policy('on_tcp_connect', 200))).status, 200);
    await account.set(large);
    await refuses(
      g(),
      ['PUT', path, { value: policy('on_tcp_connect', 400) }, account.options],
      403,
      policiesTooLarge.code,
    );
    assert.equal((await put(policy('on_tcp_connect', 2))).status, 200);
    const small = await account.used();
    assert.ok(small < large / 20);
    assert.equal((await put(policy('on_tcp_connect', 200), false)).status, 200);
    assert.equal(await account.used(), 0);
    assert.equal((await put(policy('on_tcp_connect', 200))).status, 200);
    assert.equal((await g().delete(path, account.options)).status, 204);
    assert.equal(await account.used(), 0);
    await countAgain(g());
  });

  async function newAccount() {
    const account = await createAccount(g());
    const { token } = await createUser(g(), 'admin', account);
    const options = { token };
    return {
      account,
      options,
      create: (path: string, body: unknown = {}) => g().create(path, body, options),
      set: (most: number) => runOnHost(g(), 'accounts quotas', { set: `traffic_policy_kib=${most}`, account }),
      async used(): Promise<number> {
        const { body } = await g().get('/quotas', options);
        return body.quotas.find((each: { name: string }) => each.name === 'traffic_policy_kib').used;
      },
    };
  }
});
