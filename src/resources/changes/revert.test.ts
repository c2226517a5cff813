import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makePair } from '../../../test/support/certificate-pair.ts';
import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import type { Call } from '../../api/call.ts';
import { UserError } from '../../errors/user-error.ts';
import { newId } from '../../lib/ids.ts';
import { policyProtected } from '../ip-policies/errors.ts';
import { hostCommands } from '../ip-restrictions/host-commands.ts';
import { reverters } from './service.ts';

onEachGatehouse(
  'reverting a change',
  (g) => {
    const lastChange = async (id: string): Promise<string> =>
      (await g().get(`/changes?resource_id=${id}&limit=1`)).body.changes[0].id;
    const revert = (change: string, query = '') => g().post(`/changes/${change}/revert${query}`);
    const refused = async (change: string, reason: RegExp) => {
      const version = (await g().get('/changes?limit=1')).body.changes[0].id;
      for (const query of ['?dry_run=true', '']) {
        const { status, body } = await revert(change, query);
        assert.equal(status, 409);
        assert.match(body.msg, reason);
      }
      assert.equal((await g().get('/changes?limit=1')).body.changes[0].id, version);
    };

    test('an update gets its old values back, by a new change, after a dry run that says the same', async () => {
      const policy = await g().create('/ip_policies', { description: 'first', metadata: 'kept' });
      await g().patch(`/ip_policies/${policy.id}`, { description: 'second' });
      const change = await lastChange(policy.id);
      const planned = await revert(change, '?dry_run=true');
      assert.equal(planned.status, 200, planned.text);
      assert.equal((await g().get(`/ip_policies/${policy.id}`)).body.description, 'second');
      const done = await revert(change);
      assert.deepEqual(done.body, { ...planned.body, dry_run: false });
      const [step] = done.body.changes;
      assert.deepEqual(
        [step.action, step.kind, step.resource_id, step.before.description, step.after.description],
        ['update', 'ip_policy', policy.id, 'second', 'first'],
      );
      assert.deepEqual((await g().get(`/ip_policies/${policy.id}`)).body, policy);
      // The revert is in the log, and can be reverted.
      await revert(await lastChange(policy.id));
      assert.equal((await g().get(`/ip_policies/${policy.id}`)).body.description, 'second');
    });

    test('a text that was not there is unset again', async () => {
      const backend = await g().create('/backends/static', { address: '127.0.0.1:1' });
      await g().patch(`/backends/static/${backend.id}`, { description: 'new', address: '127.0.0.1:2' });
      assert.equal((await revert(await lastChange(backend.id))).status, 200);
      assert.deepEqual((await g().get(`/backends/static/${backend.id}`)).body, backend);
      const pool = await g().create('/backends/static', {
        addresses: [{ address: '127.0.0.1:1', weight: 2 }, { address: '127.0.0.1:2' }],
        active_check: { path: '/healthz' },
      });
      const bare = { addresses: [], active_check: { enabled: false }, retries: 3, balance: { by: 'source' } };
      await g().patch(`/backends/static/${pool.id}`, bare);
      assert.equal((await revert(await lastChange(pool.id))).status, 200);
      assert.deepEqual((await g().get(`/backends/static/${pool.id}`)).body, pool);
    });

    test('a module of an HTTPS edge is what it was', async () => {
      const { id } = await g().create('/edges/https', { tls_termination: { min_version: '1.3' } });
      await g().delete(`/edges/https/${id}/tls_termination`);
      assert.equal((await revert(await lastChange(id))).status, 200);
      assert.equal((await g().get(`/edges/https/${id}`)).body.tls_termination.min_version, '1.3');
    });

    test('a deleted edge is back with its routes, their modules and its ids, and serves the same', async () => {
      const backend = await g().create('/backends/static', { address: '127.0.0.1:1' });
      const policy = await g().create('/ip_policies', {});
      const { id: authority } = await g().create('/certificate_authorities', {
        ca_pem: new ClientAuthority('revert').pem,
      });
      const edge = await g().create('/edges/https', {
        hostports: ['back.test:443'],
        mutual_tls: { certificate_authority_ids: [authority] },
      });
      for (const match of ['/', '/admin']) {
        await g().create(`/edges/https/${edge.id}/routes`, {
          match_type: 'path_prefix',
          match,
          description: match,
          backend: { backend_id: backend.id },
          ip_restriction: { ip_policy_ids: [policy.id] },
        });
      }
      const whole = (await g().get(`/edges/https/${edge.id}`)).body;
      await g().delete(`/edges/https/${edge.id}`);
      const { status, text, body } = await revert(await lastChange(edge.id));
      assert.equal(status, 200, text);
      assert.deepEqual(
        body.changes.map(({ action, kind }: { action: string; kind: string }) => `${action} ${kind}`),
        ['create https_edge', 'create https_edge_route', 'create https_edge_route'],
      );
      assert.deepEqual((await g().get(`/edges/https/${edge.id}`)).body, whole);
      // What the routes name is in use again.
      assert.equal((await g().delete(`/ip_policies/${policy.id}`)).status, 409);
      await g().delete(`/edges/https/${edge.id}`);
      await g().delete(`/backends/static/${backend.id}`);
      const gone = await revert(await lastChange(edge.id));
      assert.ok(gone.status >= 400 && gone.status < 500, gone.text);
      assert.ok(gone.body.msg.includes(backend.id), gone.body.msg);
    });

    test('a module is set back, while others that changed since stay', async () => {
      const edge = await g().create('/edges/tcp', { hostports: ['localhost:20500'] });
      const [first, second] = [await g().create('/ip_policies', {}), await g().create('/ip_policies', {})];
      const backend = await g().create('/backends/static', { address: '127.0.0.1:1' });
      const path = `/edges/tcp/${edge.id}`;
      await g().put(`${path}/ip_restriction`, { ip_policy_ids: [first.id] });
      await g().put(`${path}/ip_restriction`, { ip_policy_ids: [second.id] });
      const change = await lastChange(edge.id);
      await g().put(`${path}/backend`, { backend_id: backend.id });
      assert.equal((await revert(change)).status, 200);
      const { ip_restriction, backend: kept } = (await g().get(path)).body;
      assert.equal(ip_restriction.ip_policies[0].id, first.id);
      assert.equal(kept.backend.id, backend.id);
      await refused(change, /ip_restriction of the TCP edge \w+ has changed since/);
    });

    test('what was made is deleted, unless it has changed or is gone since', async () => {
      const made = await g().create('/ip_policies', {});
      const creation = await lastChange(made.id);
      await g().patch(`/ip_policies/${made.id}`, { description: 'used by now' });
      await refused(creation, /the IP policy \w+ has changed since. Delete it, if that is meant/);
      await revert(await lastChange(made.id));
      assert.equal((await revert(creation)).status, 200);
      assert.equal((await g().get(`/ip_policies/${made.id}`)).status, 404);
      await refused(creation, /the IP policy \w+ is gone since/);
    });

    test('what was made is not deleted with what others have added to it since', async () => {
      const policy = await g().create('/ip_policies', {});
      await g().create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
      await refused(await lastChange(policy.id), /the IP policy \w+ has rules since. Delete it, if that is meant/);
      const edge = await g().create('/edges/https', {});
      const creation = await lastChange(edge.id);
      const route = await g().create(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/' });
      await refused(creation, new RegExp(`${route.id} would be deleted with the HTTPS edge`));
      const bot = await g().create('/bot_users', { name: 'reverted' });
      const key = await g().create('/api_keys', { owner_id: bot.id });
      await refused(await lastChange(bot.id), new RegExp(`${key.id} would be deleted with the (?:bot|service) user`));
      assert.equal((await g().get(`/api_keys/${key.id}`)).status, 200);
    });

    test('what a patch cannot unset is unset all the same', async () => {
      const answer = await g().create('/backends/http_response', { status_code: 404, body: 'x' });
      await g().patch(`/backends/http_response/${answer.id}`, { headers: { 'x-a': '1' }, body: 'y' });
      assert.equal((await revert(await lastChange(answer.id))).status, 200);
      assert.deepEqual((await g().get(`/backends/http_response/${answer.id}`)).body, answer);
      await g().delete(`/backends/http_response/${answer.id}`);
      assert.equal((await revert(await lastChange(answer.id))).status, 200);
      assert.deepEqual((await g().get(`/backends/http_response/${answer.id}`)).body, answer);

      const pair = makePair('revert', '-subj', '/CN=revert.test', '-addext', 'subjectAltName=DNS:revert.test');
      const certificate = await g().create('/tls_certificates', pair);
      const domain = await g().create('/reserved_domains', { domain: 'revert.test', description: 'd', region: 'us' });
      const path = `/reserved_domains/${domain.id}`;
      await g().patch(path, { certificate_id: certificate.id });
      const named = (await g().get(path)).body;
      assert.equal((await revert(await lastChange(domain.id))).status, 200);
      assert.deepEqual((await g().get(path)).body, domain);
      assert.equal((await revert(await lastChange(domain.id))).status, 200);
      assert.deepEqual((await g().get(path)).body, named);
      await g().delete(path);
      assert.equal((await revert(await lastChange(domain.id))).status, 200);
      assert.deepEqual((await g().get(path)).body, named);
    });

    test('a rule is back in its policy; what cannot be made again is refused with the reason', async () => {
      const policy = await g().create('/ip_policies', {});
      const rule = await g().create('/ip_policy_rules', {
        ip_policy_id: policy.id,
        cidr: '192.0.2.0/24',
        action: 'allow',
      });
      await g().delete(`/ip_policy_rules/${rule.id}`);
      const deletion = await lastChange(rule.id);
      assert.equal((await revert(deletion)).status, 200);
      assert.deepEqual((await g().get(`/ip_policy_rules/${rule.id}`)).body, rule);
      await refused(deletion, /the IP policy rule \w+ exists again/);
      const key = await g().create('/api_keys');
      await g().delete(`/api_keys/${key.id}`);
      await refused(await lastChange(key.id), /cannot be made again: its secret is gone too/);
      const addr = await g().create('/reserved_addrs');
      await g().delete(`/reserved_addrs/${addr.id}`);
      await refused(
        await lastChange(addr.id),
        /the reserved address \w+ is gone and cannot be made again: ports are given/,
      );
    });

    const rulesOf = async (id: string) => (await g().get(`/ip_policies/${id}/rules`)).body.rules;
    const policyWith = async (...rules: readonly object[]) => {
      const policy = await g().create('/ip_policies', { description: 'offices' });
      for (const rule of rules)
        await g().create('/ip_policy_rules', { ip_policy_id: policy.id, action: 'allow', ...rule });
      return policy;
    };

    test('rules that were replaced are back, with ids and texts; those that came later stay', async () => {
      const { id } = await policyWith(
        { cidr: '192.0.2.0/24', description: 'the first office', metadata: 'm' },
        { cidr: '2001:DB8::/32' },
        { cidr: '198.51.100.0/24' },
      );
      const before = await rulesOf(id);
      const wanted = [{ cidr: '198.51.100.0/24' }, { cidr: '192.0.2.0/24', action: 'deny' }, '203.0.113.0/24'];
      await g().put(`/ip_policies/${id}/rules`, wanted);
      const replaced = await rulesOf(id);
      const change = await lastChange(id);
      const later = await g().create('/ip_policy_rules', { ip_policy_id: id, cidr: '10.0.0.0/8', action: 'deny' });
      const planned = await revert(change, '?dry_run=true');
      assert.equal(planned.status, 200, planned.text);
      assert.deepEqual(planned.body.changes, [
        {
          action: 'update',
          kind: 'ip_policy',
          resource_id: id,
          before: { id, description: 'offices', rules: 4, rules_that_differ: ['!192.0.2.0/24', '203.0.113.0/24'] },
          after: {
            id,
            description: 'offices',
            rules: 4,
            rules_that_differ: [
              { cidr: '192.0.2.0/24', description: 'the first office', metadata: 'm' },
              '2001:db8::/32',
            ],
          },
        },
      ]);
      assert.equal((await rulesOf(id)).length, 4, 'a dry run changes nothing');
      assert.deepEqual((await revert(change)).body, { ...planned.body, dry_run: false });
      const left = (await rulesOf(id)).filter((rule: { id: string }) => rule.id !== later.id);
      assert.deepEqual(left, before);
      assert.equal((await g().get('/ip_policy_rules?limit=100')).status, 200);
      // The revert is in the log, and can be reverted.
      assert.equal((await revert(await lastChange(id))).status, 200);
      assert.deepEqual(
        (await rulesOf(id)).filter((rule: { id: string }) => rule.id !== later.id),
        replaced,
      );
    });

    test('rules that have changed, are gone or are back since are in the way, by name', async () => {
      const { id } = await policyWith({ cidr: '192.0.2.0/24' });
      const [old] = await rulesOf(id);
      await g().put(`/ip_policies/${id}/rules`, ['203.0.113.0/24']);
      const change = await lastChange(id);
      const [rule] = await rulesOf(id);
      await g().patch(`/ip_policy_rules/${rule.id}`, { description: 'mine' });
      await refused(change, /the rule 203\.0\.113\.0\/24 of the IP policy \w+ has changed or is gone since/);
      await g().patch(`/ip_policy_rules/${rule.id}`, { description: '' });
      const other = { ip_policy_id: id, cidr: '192.0.2.0/24', action: 'deny' };
      const again = await g().create('/ip_policy_rules', other);
      await refused(change, /the IP policy \w+ has a rule 192\.0\.2\.0\/24 again/);
      await g().delete(`/ip_policy_rules/${again.id}`);
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const elsewhere = await g().create('/ip_policies', {}, { token });
      const taken = { token, headers: { 'gatehouse-new-id': old.id } };
      await g().create('/ip_policy_rules', { ...other, ip_policy_id: elsewhere.id }, taken);
      await refused(change, new RegExp(`the IP policy rule ${old.id} exists again`));
      await g().delete(`/ip_policies/${elsewhere.id}`, { token });
      await g().delete(`/ip_policies/${id}`);
      await refused(change, /the IP policy \w+ is gone since/);
    });

    test('a deleted policy is back with its rules and ids, and one without rules too', async () => {
      const policy = await policyWith({ cidr: '192.0.2.0/24', description: 'x' }, { cidr: '10.0.0.0/8' });
      const empty = await policyWith();
      for (const { id } of [policy, empty]) {
        const before = await rulesOf(id);
        await g().delete(`/ip_policies/${id}`);
        const change = await lastChange(id);
        const { status, text, body } = await revert(change);
        assert.equal(status, 200, text);
        const [{ action, before: none, after }] = body.changes;
        assert.deepEqual([action, none, after.rules, after.description], ['create', null, before.length, 'offices']);
        assert.deepEqual(await rulesOf(id), before);
        await refused(change, /the IP policy \w+ exists again/);
      }
      assert.deepEqual((await g().get(`/ip_policies/${policy.id}`)).body, policy);
      const { used } = (await g().get('/quotas')).body.quotas.find(
        ({ name }: { name: string }) => name === 'ip_policy_rules',
      );
      const { ip_policy_rules: all } = (await g().get('/ip_policy_rules?limit=100')).body;
      assert.equal(used, all.length, 'what is back counts');
    });

    test('more rules than the log keeps are refused, with the bound', async () => {
      const { id } = await policyWith();
      const many = (count: number, block: number) =>
        Array.from({ length: count }, (_, at) => `10.${block}.${at >> 8}.${at & 255}/32`);
      await g().put(`/ip_policies/${id}/rules`, many(1_000, 1));
      assert.equal((await revert(await lastChange(id))).status, 200);
      assert.equal((await rulesOf(id)).length, 0);
      await g().put(`/ip_policies/${id}/rules`, many(1_001, 1));
      const bound = /at most 1,000 rules of a change, in 128 KiB/;
      await refused(await lastChange(id), bound);
      await g().delete(`/ip_policies/${id}`);
      await refused(await lastChange(id), bound);
      const other = await policyWith();
      const metadata = 'm'.repeat(4_000);
      await g().put(
        `/ip_policies/${other.id}/rules`,
        many(33, 2).map((cidr) => ({ cidr, metadata })),
      );
      await refused(await lastChange(other.id), bound);
    });

    test('rules of a configuration are undone with the rest of its call', async () => {
      const apply = async (...entries: readonly object[]) => {
        const { status, text, body } = await g().post('/configuration', entries);
        assert.equal(status, 200, text);
        return body.steps as { readonly name: string; readonly id: string }[];
      };
      const office = {
        kind: 'ip_policies',
        name: 'office',
        description: 'first',
        rules: ['192.0.2.0/24', '10.0.0.0/8'],
      };
      const [{ id } = assert.fail()] = await apply(office);
      const before = [await rulesOf(id), (await g().get(`/ip_policies/${id}`)).body];
      const made = { kind: 'ip_policies', name: 'made', rules: ['10.0.0.0/8'] };
      const steps = await apply({ ...office, description: 'second', rules: ['!10.0.0.0/8'] }, made);
      const { status, text, body } = await revert(await lastChange(id));
      assert.equal(status, 200, text);
      assert.deepEqual(body.changes.map(({ action }: { action: string }) => action).toSorted(), [
        'delete',
        'update',
        'update',
        'update',
      ]);
      assert.deepEqual([await rulesOf(id), (await g().get(`/ip_policies/${id}`)).body], before);
      const other = steps.find(({ name }) => name === 'made');
      assert.equal((await g().get(`/ip_policies/${other?.id}`)).status, 404);
    });

    test('members revert no rules, and nobody locks themselves out by it', async () => {
      const policy = await policyWith({ cidr: '192.0.2.0/24' });
      await g().put(`/ip_policies/${policy.id}/rules`, ['127.0.0.0/8', '::1/128']);
      const change = await lastChange(policy.id);
      const restriction = await g().create('/ip_restrictions', {
        type: 'api',
        ip_policy_ids: [policy.id],
        enforced: true,
      });
      const { token } = await createUser(g(), 'member');
      assert.equal((await g().post(`/changes/${change}/revert`, undefined, { token })).status, 403);
      const { status, body } = await revert(change);
      assert.deepEqual([status, body.error_code], [409, 'ERR_GATEHOUSE_20005']);
      assert.equal((await g().get('/ip_policies')).status, 200);
      await g().delete(`/ip_restrictions/${restriction.id}`);
      assert.equal((await revert(change)).status, 200);
    });

    test('a rule of a policy that protects the API is made again by whoever may make one', async () => {
      const policy = await policyWith({ cidr: '127.0.0.0/8' }, { cidr: '::1/128' }, { cidr: '192.0.2.0/24' });
      const rules = await rulesOf(policy.id);
      const rule = rules.find((each: { readonly cidr: string }) => each.cidr === '192.0.2.0/24');
      await g().delete(`/ip_policy_rules/${rule.id}`);
      const deletion = await lastChange(rule.id);
      const restriction = await g().create('/ip_restrictions', {
        type: 'api',
        ip_policy_ids: [policy.id],
        enforced: true,
      });
      // Members may revert nothing. The reverter asks all the same, as the call that makes a rule does.
      const { services, store } = g().app.context;
      const [row] = await store.queries.all('SELECT account_id FROM ip_policies WHERE id = $1', [policy.id]);
      const accountId = String(row?.[0]);
      const before = { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' };
      const principal = { id: (await createUser(g(), 'member')).id, accountId, role: 'member', active: true } as const;
      const call = { caller: { principal, accountId, scope: 'api' }, params: {} } as unknown as Call;
      const reverter = services.all(reverters).find(({ kind }) => kind === 'ip_policy_rule') ?? assert.fail();
      const reverting = store.write({ id: principal.id, accountId, operationId: newId('op') }, (transaction) =>
        reverter.revert(transaction, call, { id: rule.id, before, after: null }),
      );
      await assert.rejects(reverting, (error) => error instanceof UserError && error.code === policyProtected.code);
      assert.equal((await g().get(`/ip_policy_rules/${rule.id}`)).status, 404);
      assert.equal((await revert(deletion)).status, 200);
      await g().delete(`/ip_restrictions/${restriction.id}`);
    });

    test('the lock-out guard looks at it as at any change', async () => {
      const policy = await g().create('/ip_policies', {});
      await g().create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
      const lockout = { headers: { 'gatehouse-allow-lockout': 'true' } };
      const restriction = await g().create('/ip_restrictions', { type: 'api', ip_policy_ids: [policy.id] });
      await g().patch(`/ip_restrictions/${restriction.id}`, { enforced: true, description: 'x' }, lockout);
      assert.equal((await g().get('/ip_policies')).status, 403);
      // The host lifts it; the revert of that would lock the caller out again.
      const command = hostCommands.find(({ name }) => name === 'restrictions disable');
      assert.ok(command);
      await command.run(g().app.context, { account: 'default', id: restriction.id });
      const lifted = await lastChange(restriction.id);
      const { status, body } = await revert(lifted);
      assert.deepEqual([status, body.error_code], [409, 'ERR_GATEHOUSE_20005']);
      assert.equal((await g().get('/ip_policies')).status, 200);
    });

    test('what another account has taken over under its id by now is not made again', async () => {
      const backend = await g().create('/backends/static', { address: '127.0.0.1:1' });
      await g().delete(`/backends/static/${backend.id}`);
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const taken = { token, headers: { 'gatehouse-new-id': backend.id } };
      assert.equal((await g().create('/backends/static', { address: '127.0.0.1:2' }, taken)).id, backend.id);
      await refused(await lastChange(backend.id), /the static backend \w+ exists again/);
    });

    test('what other accounts have changed is no change, and secrets are shown nowhere', async () => {
      const edge = await g().create('/edges/https', {});
      const route = await g().create(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match: '/' });
      const path = `/edges/https/${edge.id}/routes/${route.id}/webhook_verification`;
      await g().put(path, { provider: 'github', secret: 'the first of two' });
      await g().put(path, { provider: 'github', secret: 'the second of two' });
      const change = await lastChange(route.id);
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      for (const query of ['?dry_run=true', ''])
        assert.equal((await g().post(`/changes/${change}/revert${query}`, undefined, { token })).status, 404);
      const { status, text, body } = await revert(change);
      assert.equal(status, 200, text);
      assert.equal(body.changes[0].after.modules.webhook_verification.provider, 'github');
      const stored = await g().app.context.store.queries.all('SELECT document FROM https_edge_routes WHERE id = $1', [
        route.id,
      ]);
      const { salt, digest } = JSON.parse(String(stored[0]?.[0])).modules.webhook_verification.secret;
      for (const hidden of [salt, digest, 'the first of two', 'the second of two']) {
        assert.ok(typeof hidden === 'string' && hidden !== '');
        assert.ok(!text.includes(hidden), text);
      }
    });

    test('a call that changed too much, or what no call sets, is refused with the reason', async () => {
      const apply = async (entries: readonly object[]) => {
        const answer = await g().post('/configuration', entries);
        assert.equal(answer.status, 200, answer.text);
        return lastChange(answer.body.steps[0].id);
      };
      const backends = Array.from({ length: 1_001 }, (_, at) => ({
        kind: 'static_backends',
        name: `many-${at}`,
        address: '127.0.0.1:1',
      }));
      await refused(await apply(backends), /its call changed more than 1000 resources/);
      const policies = Array.from({ length: 10 }, (_, block) => ({
        kind: 'ip_policies',
        name: `large-${block}`,
        rules: Array.from({ length: 1_000 }, (__, at) => `10.${block}.${at >> 8}.${at & 255}/32`),
      }));
      await refused(await apply(policies), /its call changed too many rules to undo them at once/);
      const { id: policy } = await policyWith();
      const { id } = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] });
      await g().put(`/ip_restrictions/${id}/decisions/192.0.2.1`, { decision: 'refuse_on_purpose' });
      const [decided] = (await g().get('/changes?kind=ip_restriction_decision&limit=1')).body.changes;
      await refused(decided.id, /a change of ip_restriction_decision cannot be undone by a call/);
    });

    test('an id of no change is 404, in whatever form', async () => {
      const { id: policy } = await g().create('/ip_policies', {});
      // The version exists; the place in it does not.
      const nowhere = (await lastChange(policy)).replace(/\d{6}$/, '999999');
      for (const id of [nowhere, 'chg_1', 'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng', 'x']) {
        assert.equal((await revert(id)).status, 404, id);
      }
      assert.equal((await revert(await lastChange('nothing').catch(() => 'x'), '?dry_run=maybe')).status, 400);
    });
  },
  { tcpPorts: '20500-20599' },
);
