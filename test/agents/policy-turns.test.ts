import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countSlices } from '../support/count-slices.ts';
import { newToken, onEachServed } from './support/served-agents.ts';

/** Expressions of a policy, each of which is compiled in several steps. */
const rules = 300;

/** What no policy goes by here. */
const places = " && conn.geo.city == 'x'";

let made = 0;
/** The text of a policy that nothing has read before. */
function another(phase: string, fault = ''): string {
  made += 1;
  const list = Array.from({ length: rules }, (_, at) => ({
    expressions: [`conn.client_ip == '${made}-${at}'`],
    actions: [{ type: 'deny' }],
  }));
  return JSON.stringify({
    [phase]: [...list, { expressions: [`true${fault}`], actions: [{ type: 'deny' }] }, { actions: [{ type: 'deny' }] }],
  });
}

onEachServed('reading long policies', (served) => {
  const request = 'on_http_request';
  const asked = async (method: string, path: string, body: unknown, status: number) => {
    const answer = await served().gatehouse.call(method, path, body);
    assert.equal(answer.status, status, answer.text.slice(0, 1_000));
  };
  const bind = async (policy: string) => {
    const { agent } = await served().agent(await newToken(served().gatehouse));
    return agent.call('bind', { Id: '', Proto: 'http', ForwardsTo: 'x', Opts: { TrafficPolicy: policy }, Extra: {} });
  };
  const ways: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
    'an endpoint is made': async () => () =>
      asked(
        'POST',
        '/endpoints',
        { url: 'https://a.internal', bindings: ['internal'], traffic_policy: another(request) },
        201,
      ),
    'an endpoint is refused': async () => () =>
      asked(
        'POST',
        '/endpoints',
        { url: 'https://b.internal', bindings: ['internal'], traffic_policy: another(request, ' + 1') },
        400,
      ),
    'an edge is made': async () => () =>
      asked('POST', '/edges/tcp', { traffic_policy: { value: another('on_tcp_connect') } }, 201),
    'an edge is refused for places that are not known': async () => () =>
      asked('POST', '/edges/tcp', { traffic_policy: { value: another('on_tcp_connect', places) } }, 400),
    'a configuration is refused for them': async () => () =>
      asked(
        'POST',
        '/configuration',
        [{ kind: 'tcp_edges', name: 'places', traffic_policy: { value: another('on_tcp_connect', places) } }],
        400,
      ),
    'the older module is refused for them': async () => {
      const { id } = await served().gatehouse.create('/edges/tls');
      const { on_tcp_connect: inbound } = JSON.parse(another('on_tcp_connect', places));
      return () => asked('PUT', `/edges/tls/${id}/policy`, { inbound }, 400);
    },
    'a module is replaced': async () => {
      const { id } = await served().gatehouse.create('/edges/tls');
      return () => asked('PUT', `/edges/tls/${id}/traffic_policy`, { value: another('on_tcp_connect') }, 200);
    },
    'the older module is replaced': async () => {
      const { id } = await served().gatehouse.create('/edges/tls');
      const { on_tcp_connect: inbound } = JSON.parse(another('on_tcp_connect'));
      return () => asked('PUT', `/edges/tls/${id}/policy`, { inbound }, 200);
    },
    'a route is made and changed': async () => {
      const { id } = await served().gatehouse.create('/edges/https');
      const path = `/edges/https/${id}/routes`;
      const { id: route } = await served().gatehouse.create(path, { match_type: 'path_prefix', match: '/a' });
      return () => asked('PATCH', `${path}/${route}`, { traffic_policy: { value: another(request) } }, 200);
    },
    'a configuration is applied': async () => () =>
      asked(
        'POST',
        '/configuration',
        [{ kind: 'tcp_edges', name: 'long', traffic_policy: { value: another('on_tcp_connect') } }],
        200,
      ),
    'a policy is tried': async () => () => asked('POST', '/traffic_policy_check', { policy: another(request) }, 200),
    'an agent binds': async () => async () => assert.equal((await bind(another(request)))['Error'], undefined),
    'an agent is refused': async () => async () =>
      assert.match(String((await bind(another(request, ' + 1')))['Error']), /does not take bool and int/),
  };
  for (const [name, prepare] of Object.entries(ways)) {
    test(`${name}: a long policy is read in slices, and once`, async () => {
      const work = await prepare();
      const slices = await countSlices(work);
      // Four steps of each expression, one of each action and one of each rule.
      assert.ok(slices > rules * 5, `${slices} slices`);
      assert.ok(slices < rules * 10, `${slices} slices`);
    });
  }
});
