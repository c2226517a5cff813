import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { overQuota } from '../../src/errors/shared.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { runOnHost } from '../support/people.ts';
import { countAgain } from '../support/quota-counts.ts';
import { newToken, onEachServed } from './support/served-agents.ts';
import { signIn } from './support/sign-in.ts';
import type { TestAgent } from './support/test-agent.ts';

const bindTcp = (agent: TestAgent) =>
  agent.call('bind', { Id: '', Proto: 'tcp', ForwardsTo: 'x', Opts: {}, Extra: {} });

const policy = (rules: number) =>
  JSON.stringify({
    on_http_request: Array.from({ length: rules }, (_, at) => ({
      expressions: [`req.url.path == '/${at}'`],
      actions: [{ type: 'deny' }],
    })),
  });

onEachServed('agents and quotas', (served) => {
  const set = (quotas: string) => runOnHost(served().gatehouse, 'accounts quotas', { account: 'default', set: quotas });
  const used = async (name: string): Promise<number> => {
    const { body } = await served().gatehouse.get('/quotas');
    return body.quotas.find((each: { name: string }) => each.name === name).used;
  };
  afterEach(() =>
    set(
      'tunnel_sessions=default,tunnels=default,tunnel_endpoints=default,tcp_ports=default,traffic_policy_kib=default',
    ),
  );

  /** Fails unless the answer names the quota, its limit and what is used. */
  function assertRefused({ Error: text }: Readonly<Record<string, unknown>>, quota: string, limit: number): void {
    const words = `quota ${quota} of this account is ${limit}, ${limit} are used`;
    assert.match(String(text), new RegExp(`${words}.*ERR_NGROK_${overQuota.code}$`, 's'));
  }

  test('a session beyond is refused, one that reconnects is not, and one that ends makes room', async () => {
    const { gatehouse, agent, port, ca } = served();
    const token = await newToken(gatehouse);
    const { known } = await agent(token);
    await set('tunnel_sessions=1');
    const { agent: refused, answer } = await signIn(port, ca, token);
    assertRefused(answer, 'tunnel_sessions', 1);
    refused.socket.destroy();
    const again = await agent(token, known);
    assert.equal(await used('tunnel_sessions'), 1);
    again.agent.socket.destroy();
    await until(async () => (await used('tunnel_sessions')) === 0, 'the session is gone');
    await agent(token);
  });

  test('a tunnel beyond is refused, the session goes on, and one that is given up makes room', async () => {
    const { gatehouse, agent } = served();
    const { agent: one } = await agent(await newToken(gatehouse));
    await set('tunnels=1');
    const { Id } = await one.bind('');
    assert.equal(await used('tunnels'), 1);
    assertRefused(await one.bind(''), 'tunnels', 1);
    await one.call('unbind', { Id });
    await until(async () => (await used('tunnels')) === 0, 'the tunnel is gone');
    assert.equal((await one.bind(''))['Error'], undefined);
  });

  test('an endpoint and a port beyond are refused; those that are kept for an agent count, and are its own', async () => {
    const { gatehouse, agent } = served();
    const { agent: one } = await agent(await newToken(gatehouse));
    const [endpoints, ports] = [await used('tunnel_endpoints'), await used('tcp_ports')];
    await set(`tcp_ports=${ports + 1},tunnel_endpoints=${endpoints + 2}`);
    assert.equal((await bindTcp(one))['Error'], undefined);
    assertRefused(await bindTcp(one), 'tcp_ports', ports + 1);
    await one.bind('kept.localhost');
    assertRefused(await one.bind(''), 'tunnel_endpoints', endpoints + 2);
    one.socket.destroy();
    await until(async () => (await used('tunnel_sessions')) === 0, 'the session is gone');
    assert.equal(await used('tunnel_endpoints'), endpoints + 2);
    const { agent: later } = await agent(await newToken(gatehouse));
    assert.equal((await later.bind('kept.localhost'))['Error'], undefined);
  });

  test('a policy beyond the memory of the account is refused, at bind and later, and a tunnel that ends gives it back', async () => {
    const { gatehouse, agent } = served();
    const { agent: one } = await agent(await newToken(gatehouse));
    const bind = (rules: number) =>
      one.call('bind', { Id: '', Proto: 'http', ForwardsTo: 'x', Opts: { TrafficPolicy: policy(rules) }, Extra: {} });
    const before = await used('traffic_policy_kib');
    const { Id, Error: refused } = await bind(100);
    assert.equal(refused, undefined);
    const one100 = (await used('traffic_policy_kib')) - before;
    assert.ok(one100 > 100);
    await set(`traffic_policy_kib=${before + one100 + 20}`);
    const { Error: text } = await bind(100);
    assert.match(String(text), /about \d+ KiB of memory.*quota traffic_policy_kib is/s);
    assert.equal(await used('traffic_policy_kib'), before + one100);
    assert.equal((await bind(2))['Error'], undefined);
    await one.call('unbind', { Id });
    await until(async () => (await used('traffic_policy_kib')) < before + one100, 'the memory is given back');
    assert.equal((await bind(100))['Error'], undefined);
  });

  test('a policy that changes while its tunnel is open counts as it is then, and one beyond the memory changes nothing', async () => {
    const { gatehouse, agent } = served();
    const { agent: one } = await agent(await newToken(gatehouse));
    const before = await used('traffic_policy_kib');
    const { Id: TunnelId, Error: refused } = await one.call('bind', {
      Id: '',
      Proto: 'http',
      ForwardsTo: 'x',
      Opts: { TrafficPolicy: policy(2) },
      Extra: {},
    });
    assert.equal(refused, undefined);
    const patch = (change: object) => one.call('patchTunnelState', { TunnelId, ...change });
    const shown = async () => {
      const { endpoints } = (await gatehouse.get('/endpoints')).body;
      return endpoints.find((each: { tunnel?: { id: string } }) => each.tunnel?.id === TunnelId).traffic_policy;
    };
    const small = (await used('traffic_policy_kib')) - before;
    assert.equal((await patch({ TrafficPolicy: policy(100) }))['Error'], '');
    const large = (await used('traffic_policy_kib')) - before;
    assert.ok(small > 0 && large > 20 * small, `${large} KiB are counted for 100 rules, ${small} for two`);
    await set(`traffic_policy_kib=${before + large}`);
    const { Error: text } = await patch({ TrafficPolicy: policy(120) });
    assert.match(String(text), /about \d+ KiB of memory.*quota traffic_policy_kib is/s);
    assert.deepEqual([await shown(), (await used('traffic_policy_kib')) - before], [policy(100), large]);
    for (const [change, kib] of [
      [{ Metadata: 'another' }, large],
      [{ TrafficPolicy: policy(2) }, small],
      [{ TrafficPolicy: '' }, 0],
    ] as const) {
      assert.equal((await patch(change))['Error'], '');
      assert.equal((await used('traffic_policy_kib')) - before, kib);
    }
    await countAgain(gatehouse);
  });
});
