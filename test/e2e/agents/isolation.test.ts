import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startUpstream } from '../gateway/support/upstream.ts';
import { onServed } from './support/served.ts';

/** Agents of different accounts beside each other; the contract tests try every operation with ids of others. */
onServed('agents of two accounts', (served) => {
  test('with the same labels serve only the edges of their own', async () => {
    const { program } = served();
    await using stranger = await startUpstream('stranger');
    const theirs = await served().newAccount('same labels');
    const group = await program.must('POST', '/backends/tunnel_group', { labels: { app: 'same' } });
    const edge = await program.must('POST', '/edges/https', { hostports: ['own.example:443'] });
    await program.must('POST', `/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: group.id },
    });
    const labelled = { proto: 'labeled', labels: ['app:same'] };
    const addr = `127.0.0.1:${stranger.port}`;
    await served().agent(await served().newToken(theirs), [{ ...labelled, addr }]);
    assert.equal((await served().ask('own.example')).errorCode, 3200);
    assert.deepEqual((await program.must('GET', `/backends/tunnel_group/${group.id}`)).tunnels, []);
    const own = await served().agent(await served().newToken(), [labelled]);
    for (let visit = 0; visit < 10; visit++) {
      assert.equal((await served().ask('own.example')).echo?.name, served().upstream.name);
    }
    const { tunnels } = await program.must('GET', '/tunnels');
    assert.deepEqual(
      tunnels.map(({ id }: { readonly id: string }) => id),
      [own.endpoints[0]?.id],
    );
  });

  test('neither see, command nor end the sessions of each other', async () => {
    const { program } = served();
    const theirs = await served().newAccount('curious');
    const agent = await served().agent(await served().newToken(), [{ domain: 'private.localhost' }], { stops: true });
    const [{ id }] = (await program.must('GET', '/tunnel_sessions')).tunnel_sessions;
    const [tunnel] = (await program.must('GET', '/tunnels')).tunnels;
    for (const [path, key] of [
      ['/tunnel_sessions', 'tunnel_sessions'],
      ['/tunnels', 'tunnels'],
      ['/endpoints', 'endpoints'],
      ['/credentials', 'credentials'],
    ] as const)
      assert.deepEqual((await program.must('GET', path, undefined, theirs))[key], [], path);
    for (const path of [`/tunnel_sessions/${id}`, `/tunnels/${tunnel.id}`, `/endpoints/${tunnel.endpoint.id}`])
      assert.equal((await program.call('GET', path, undefined, theirs)).status, 404, path);
    for (const command of ['stop', 'restart', 'update'])
      assert.equal((await program.call('POST', `/tunnel_sessions/${id}/${command}`, {}, theirs)).status, 404, command);
    const body = { type: 'agent', enforced: true, ip_policy_ids: [] as string[] };
    const policy = await program.must('POST', '/ip_policies', {}, theirs);
    body.ip_policy_ids.push(policy.id);
    await program.must('POST', '/ip_restrictions', body, theirs);
    assert.equal((await served().ask(agent.hostname)).status, 200);
    await assert.rejects(served().agent(await served().newToken(theirs), [{}]), { errorCode: 'ERR_NGROK_3206' });
  });
});
