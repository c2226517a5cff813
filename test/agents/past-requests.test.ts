import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { createAccount, createUser } from '../support/people.ts';
import { scratchFolder } from '../support/scratch.ts';
import { httpProgram, visit } from './support/endpoint-visitors.ts';
import { onServed } from './support/served-agents.ts';

const policy = (action: object) => JSON.stringify({ on_http_request: [{ actions: [action] }] });
const harmless = policy({ type: 'add-headers', config: { headers: { 'x-of': 'a policy' } } });

onServed(
  'past requests of agents',
  (served) => {
    /** An agent, the id of its session, and ids of the endpoints that it opens. */
    async function connect() {
      const { gatehouse, library } = served();
      const { id: credential, token } = await gatehouse.create('/credentials', {});
      const session = await library(token);
      const { body } = await gatehouse.get('/tunnel_sessions');
      type Shown = { readonly id: string; readonly credential: { readonly id: string } };
      const shown = body.tunnel_sessions.find((each: Shown) => each.credential.id === credential);
      return { session, id: String(shown.id) };
    }

    /** Hosts of past requests that pass the query, once there are so many. */
    async function hosts(query: string, count: number): Promise<string> {
      const { gatehouse } = served();
      const read = async (): Promise<readonly { readonly host: string }[]> => {
        const { status, body, text } = await gatehouse.get(`/decisions?${query}`);
        assert.equal(status, 200, text);
        return body.decisions;
      };
      await until(async () => (await read()).length >= count, `${count} requests of ${query}`);
      const summary = await gatehouse.get(`/decisions/summary?${query}`);
      const found = (await read()).map(({ host }) => host).toSorted();
      assert.equal(summary.body.total.requests, found.length, query);
      return found.join(' ');
    }

    const endpointOf = (id: string): string => id.replace(/^tn_/, 'ep_');

    test('are those of what its agent serves, alone or with others', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const [plain, ruled, other] = [await connect(), await connect(), await connect()];
      const pooled = (from: typeof plain) => from.session.httpEndpoint().domain('pool.localhost').poolingEnabled(true);
      await pooled(plain).listenAndForward(program);
      const second = await pooled(other).listenAndForward(program);
      const alone = await ruled.session
        .httpEndpoint()
        .domain('alone.localhost')
        .trafficPolicy(harmless)
        .listenAndForward(program);
      await visit(served(), 'https://pool.localhost');
      await visit(served(), alone.url());
      // Which of the two took it is not known, so that it is of both.
      assert.equal(await hosts(`tunnel_session_id=${plain.id}`, 1), 'pool.localhost');
      assert.equal(await hosts(`tunnel_session_id=${other.id}`, 1), 'pool.localhost');
      assert.equal(await hosts(`edge_id=${endpointOf(second.id())}`, 1), 'pool.localhost');
      assert.equal(await hosts(`tunnel_session_id=${ruled.id}`, 1), 'alone.localhost');
      assert.equal(await hosts(`edge_id=${endpointOf(alone.id())}`, 1), 'alone.localhost');
      assert.equal(await hosts(`edge_id=${endpointOf(alone.id())}&verdict=refused`, 0), '');
    });

    test('are those that others have sent on to it', async (t) => {
      const { gatehouse } = served();
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const [outer, inner, labelled] = [await connect(), await connect(), await connect()];
      const target = await inner.session
        .httpEndpoint()
        .domain('inner.internal')
        .trafficPolicy(harmless)
        .listenAndForward(program);
      const forward = policy({ type: 'forward-internal', config: { url: 'https://inner.internal' } });
      const front = await outer.session
        .httpEndpoint()
        .domain('front.localhost')
        .trafficPolicy(forward)
        .listenAndForward(program);
      await visit(served(), front.url());
      assert.equal(await hosts(`tunnel_session_id=${inner.id}`, 1), 'front.localhost');
      assert.equal(await hosts(`tunnel_session_id=${outer.id}`, 1), 'front.localhost');
      assert.equal(await hosts(`backend_id=${endpointOf(target.id())}`, 1), 'front.localhost');
      assert.equal(await hosts(`edge_id=${endpointOf(target.id())}`, 0), '');

      const group = await gatehouse.create('/backends/tunnel_group', { labels: { app: 'shop' } });
      const edge = await gatehouse.create('/edges/https', { hostports: ['labels.localhost:443'] });
      const route = { match: '/', match_type: 'path_prefix', backend: { backend_id: group.id } };
      await gatehouse.create(`/edges/https/${edge.id}/routes`, route);
      await labelled.session.labeledListener().label('app', 'shop').listenAndForward(program);
      await until(async () => (await visit(served(), 'https://labels.localhost/')).status === 200, 'it is served');
      const found = await hosts(`tunnel_session_id=${labelled.id}&status=200`, 1);
      assert.equal(await hosts(`backend_id=${group.id}&status=200`, 1), found);
      assert.match(found, /^labels\.localhost/);
    });

    test('are not asked for by an agent that is away, of somebody else, or of a policy too', async () => {
      const { gatehouse } = served();
      const { id } = await connect();
      const { token } = await createUser(gatehouse, 'viewer', await createAccount(gatehouse));
      const policyId = (await gatehouse.create('/ip_policies', {})).id;
      assert.equal(await hosts(`tunnel_session_id=${id}`, 0), '');
      for (const path of ['/decisions', '/decisions/summary', '/decisions/top']) {
        const { status, body } = await gatehouse.get(`${path}?tunnel_session_id=${id}`, { token });
        assert.equal(status, 400);
        assert.match(body.msg, /tunnel_session_id ".*" selects nothing: no agent of this account is connected/);
        assert.equal((await gatehouse.get(`${path}?tunnel_session_id=ts_none`)).status, 400);
        const both = await gatehouse.get(`${path}?tunnel_session_id=${id}&policy_id=${policyId}`);
        assert.match(both.body.msg, /cannot be given beside policy_id/);
      }
    });
  },
  { decisions: scratchFolder() },
);
