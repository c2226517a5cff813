import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Pace } from '../../src/lib/pace.ts';
import { credentials } from '../../src/resources/credentials/table.ts';
import { ipPolicies } from '../../src/resources/ip-policies/table.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { countSlices } from '../support/count-slices.ts';
import { createAccount, createBot, createUser } from '../support/people.ts';
import { newToken, onServed } from './support/served-agents.ts';
import { signIn } from './support/sign-in.ts';

/** Rules of who may connect, at sign-in and while agents are connected; and commands to agents. */
onServed('agents and rules', (served) => {
  async function restrict(enforced: boolean): Promise<{ readonly id: string; readonly policyId: string }> {
    const { gatehouse } = served();
    const policy = await gatehouse.create('/ip_policies', {});
    const { id } = await gatehouse.create('/ip_restrictions', {
      type: 'agent',
      enforced,
      ip_policy_ids: [policy.id],
    });
    return { id, policyId: policy.id };
  }

  test('an enforced restriction refuses with 3206 and the address, as ip_check says', async () => {
    const { gatehouse, library } = served();
    const { id } = await restrict(true);
    await assert.rejects(library(await newToken(gatehouse)), {
      errorCode: 'ERR_NGROK_3206',
      message: /Agents may not connect from 127\.0\.0\.1/,
    });
    const { body } = await gatehouse.post('/ip_check', { ip: '127.0.0.1', type: 'agent' });
    assert.equal(body.allowed, false);
    await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('a restriction that is not enforced lets the agent in and counts a warning', async () => {
    const { gatehouse, agent } = served();
    const { id } = await restrict(false);
    await agent(await newToken(gatehouse));
    const warnings = async () => (await gatehouse.get(`/ip_restrictions/${id}/warnings`)).body.warnings;
    await until(async () => (await warnings()).length === 1, 'a warning');
    assert.match(JSON.stringify(await warnings()), /127\.0\.0\.1/);
    await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('a restriction that becomes enforced, and a rule that goes, close sessions before the write is answered', async () => {
    const { gatehouse, agent } = served();
    const token = await newToken(gatehouse);
    const { id, policyId } = await restrict(false);
    const first = await agent(token);
    const second = await agent(token);
    await gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
    for (const { agent: each } of [first, second]) assert.match((await each.ended).text, /no longer connect/);
    const rule = { action: 'allow', cidr: '127.0.0.0/8', ip_policy_id: policyId };
    const { id: ruleId } = await gatehouse.create('/ip_policy_rules', rule);
    const third = await agent(token);
    await gatehouse.delete(`/ip_policy_rules/${ruleId}`);
    assert.match((await third.agent.ended).text, /no longer connect/);
    await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('very many sessions are asked again in slices, and all of them', async () => {
    const { gatehouse, agent } = served();
    const enforce = async () => {
      const { id, policyId } = await restrict(false);
      const rule = { action: 'allow', cidr: '127.0.0.0/8', ip_policy_id: policyId };
      const { id: ruleId } = await gatehouse.create('/ip_policy_rules', rule);
      const slices = await countSlices(() => gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true }));
      return { slices, id, ruleId };
    };
    const token = await newToken(gatehouse);
    const before = await enforce();
    await gatehouse.delete(`/ip_restrictions/${before.id}`);
    const most = 40;
    const signedIn = [];
    for (let at = 0; at < most; at++) signedIn.push(await agent(token));
    const { slices, id, ruleId } = await enforce();
    // Work that has nothing to do with it has some slices more or fewer.
    assert.ok(slices >= before.slices + most / 2, `${slices} slices, ${before.slices} without sessions`);
    assert.ok(signedIn.every(({ agent: each }) => each.mux.isOpen));
    await countSlices(() => gatehouse.delete(`/ip_policy_rules/${ruleId}`));
    for (const { agent: each } of signedIn) assert.match((await each.ended).text, /no longer connect/);
    await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('a rule that is put in force later than others, since loading it takes long, closes sessions then', async (t) => {
    const { gatehouse, agent } = served();
    const { queries } = gatehouse.app.context.store;
    const { id, policyId } = await restrict(true);
    const rule = { action: 'allow', cidr: '127.0.0.0/8', ip_policy_id: policyId };
    const { id: ruleId } = await gatehouse.create('/ip_policy_rules', rule);
    const { agent: leaving } = await agent(await newToken(gatehouse));
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const all = queries.all.bind(queries);
    t.mock.method(queries, 'all', async (...given: Parameters<typeof all>) => {
      if (given[0].includes('set_id = p.rule_set')) {
        begun.resolve();
        await gate.promise;
      }
      return all(...given);
    });
    const deleted = gatehouse.delete(`/ip_policy_rules/${ruleId}`);
    await begun.promise;
    // A write of another account is answered when the changes before it have been told to all.
    await createAccount(gatehouse);
    assert.equal(leaving.mux.isOpen, true);
    gate.resolve();
    assert.equal((await deleted).status, 204);
    await until(() => !leaving.mux.isOpen, 'the agent is sent away');
    assert.match((await leaving.ended).text, /no longer connect/);
    await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('long work of others does not hold up that agents obey', async () => {
    const { gatehouse, agent } = served();
    const { id, policyId } = await restrict(true);
    const token = await newToken(gatehouse);
    const [most, works] = [20, 60];
    /** Slices of others while so many sessions are closed. */
    const close = async (sessions: number): Promise<number> => {
      const rule = { action: 'allow', cidr: '127.0.0.0/8', ip_policy_id: policyId };
      const { id: ruleId } = await gatehouse.create('/ip_policy_rules', rule);
      const signedIn = [];
      for (let at = 0; at < sessions; at++) signedIn.push(await agent(token));
      const over = new AbortController();
      let others = 0;
      const long = async (): Promise<void> => {
        const pace = new Pace();
        while (!over.signal.aborted) {
          others += 1;
          await pace.giveWay();
        }
      };
      const working = Array.from({ length: works }, long);
      await countSlices(() => gatehouse.delete(`/ip_policy_rules/${ruleId}`));
      over.abort();
      await Promise.all(working);
      for (const { agent: each } of signedIn) assert.match((await each.ended).text, /no longer connect/);
      return others;
    };
    const others = (await close(most)) - (await close(0));
    await gatehouse.delete(`/ip_restrictions/${id}`);
    // Every other slice belongs to the sessions: without that, each of theirs waits for one of every work.
    assert.ok(others < (most * works) / 2, `${others} slices of others`);
  });

  test('each of two changes of an account that come together is obeyed, in whatever order they come', async () => {
    const { gatehouse, agent } = served();
    const { store } = gatehouse.app.context;
    const { id: keptId, token: kept } = await gatehouse.create('/credentials', {});
    const staying = await agent(kept);
    for (const isLast of [false, true]) {
      const { id, token } = await gatehouse.create('/credentials', {});
      const credential = (await credentials.load(store.queries, id)) ?? assert.fail('it was created');
      const other = ipPolicies.newDocument(credential.account_id);
      const { agent: leaving } = await agent(token);
      await store.write({ id: 'host', accountId: '', operationId: '' }, async (transaction) => {
        if (isLast) await ipPolicies.insert(transaction, other);
        await credentials.delete(transaction, credential);
        if (!isLast) await ipPolicies.insert(transaction, other);
      });
      await until(() => !leaving.mux.isOpen, 'the agent is sent away');
      assert.match((await leaving.ended).text, /credential was deleted/);
      assert.equal((await gatehouse.delete(`/ip_policies/${other.id}`)).status, 204);
    }
    assert.equal(staying.agent.mux.isOpen, true);
    assert.equal((await gatehouse.get(`/credentials/${keptId}`)).status, 200);
  });

  test('deleting the credential, or deactivating its owner, closes its sessions and no others', async () => {
    const { gatehouse, agent, port, ca } = served();
    const bot = await createBot(gatehouse);
    const kept = await agent(await newToken(gatehouse));
    const { id, token } = await gatehouse.create('/credentials', {});
    const ofBots = await newToken(gatehouse, { owner_id: bot.id });
    const deleted = await agent(token);
    await gatehouse.delete(`/credentials/${id}`);
    assert.match((await deleted.agent.ended).text, /credential was deleted/);
    const owned = await agent(ofBots);
    await gatehouse.patch(`/bot_users/${bot.id}`, { active: false });
    assert.match((await owned.agent.ended).text, /deactivated/);
    const { agent: refused, answer } = await signIn(port, ca, ofBots);
    assert.match(String(answer['Error']), /ERR_NGROK_300$/);
    refused.socket.destroy();
    assert.equal(kept.agent.mux.isOpen, true);
  });

  test('a command reaches a program that handles it, another gives its reason, and only owners and admins may', async () => {
    const { gatehouse, library } = served();
    const owner = await createUser(gatehouse, 'member');
    const other = await createUser(gatehouse, 'member');
    const stopped = Promise.withResolvers<void>();
    await library(await newToken(gatehouse, {}, owner.token), (builder) =>
      builder.handleStopCommand(() => {
        stopped.resolve();
      }),
    );
    const [{ id }] = (await gatehouse.get('/tunnel_sessions')).body.tunnel_sessions;
    assert.equal((await gatehouse.post(`/tunnel_sessions/${id}/stop`, {}, { token: other.token })).status, 403);
    assert.equal((await gatehouse.post(`/tunnel_sessions/${id}/stop`, {}, { token: owner.token })).status, 204);
    await stopped.promise;
    const restart = await gatehouse.post(`/tunnel_sessions/${id}/restart`, {});
    assert.equal(restart.status, 409);
    assert.match(restart.body.msg, /cannot carry out the command restart: \S+/);
    assert.doesNotMatch(restart.body.msg, /command restart.*command restart|\.\.$/);
    // The official TypeScript client posts the bare id, which is no JSON.
    for (const raw of [id, JSON.stringify(id), '[]'])
      assert.equal((await gatehouse.post(`/tunnel_sessions/${id}/stop`, undefined, { raw })).status, 204, raw);
    const options = await gatehouse.post(`/tunnel_sessions/${id}/stop`, { force: true });
    assert.equal(options.status, 400);
  });
});

onServed(
  'agents at their limits',
  (served) => {
    test('a credential may have so many sessions, and one that reconnects is none too many', async () => {
      const { gatehouse, agent, port, ca } = served();
      const token = await newToken(gatehouse);
      await agent(token);
      const last = await agent(token);
      const { agent: refused, answer } = await signIn(port, ca, token);
      assert.match(String(answer['Error']), /2 sessions.*GATEHOUSE_AGENT_MAX_SESSIONS.*ERR_NGROK_108$/s);
      refused.socket.destroy();
      assert.equal((await agent(token, last.known)).known.clientId, last.known.clientId);
    });

    test('a session may have so many tunnels', async () => {
      const { gatehouse, agent } = served();
      const { agent: one } = await agent(await newToken(gatehouse));
      await one.bind('');
      assert.match(String((await one.bind(''))['Error']), /GATEHOUSE_AGENT_MAX_TUNNELS.*ERR_NGROK_324$/s);
    });

    test('guesses of tokens are slowed and refused like those of the API', async () => {
      const { port, ca } = served();
      const codes: string[] = [];
      for (let round = 0; round < 3; round++) {
        const { agent, answer } = await signIn(port, ca, 'x');
        codes.push(String(answer['Error']).split('\n').at(-1) ?? '');
        agent.socket.destroy();
      }
      assert.deepEqual(codes, ['ERR_NGROK_105', 'ERR_NGROK_105', 'ERR_NGROK_20072']);
    });
  },
  { agentMaxSessions: '2', agentMaxTunnels: '1', authFailures: '2', authFailuresSlowed: '0' },
);
