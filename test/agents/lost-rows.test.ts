import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { httpProgram, visit } from './support/endpoint-visitors.ts';
import { newToken, onServed } from './support/served-agents.ts';

onServed('agents, when the database has lost commits', (served) => {
  test('an endpoint that is lost is stored again: its agent is asked to connect once more', async (t) => {
    const { gatehouse, library } = served();
    const program = await httpProgram(t, (_, response) => response.end('here'));
    const session = await library(await newToken(gatehouse));
    const endpoint = await session.httpEndpoint().domain('lost.localhost').listenAndForward(program);
    assert.equal((await visit(served(), endpoint.url())).body, 'here');
    const tunnels = async (): Promise<readonly { id: string }[]> => (await gatehouse.get('/tunnels')).body.tunnels;
    const sessions = async () => (await gatehouse.get('/tunnel_sessions')).body.tunnel_sessions;
    const [before] = await sessions();
    // As after a failover to a standby that did not have the last commits.
    const { store } = gatehouse.app.context;
    await store.writeUnlogged(async (writer) => {
      await writer.run('DELETE FROM tunnels');
      await writer.run('DELETE FROM observed_changes');
      await writer.run('UPDATE observed_version SET version = version - 1, mark = 1');
    });
    await until(async () => (await tunnels()).length === 1, 'the endpoint is stored again');
    const [after] = await sessions();
    assert.notEqual(after.id, before.id);
    assert.equal((await visit(served(), endpoint.url())).body, 'here');
  });
});
