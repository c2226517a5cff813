import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { DashboardBrowser } from '../../../test/support/dashboard-browser.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createBot, createUser, from, newName, runOnHost } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import {
  adminOnly,
  bodyTooLarge,
  invitationOver,
  notReverted,
  tooManyFailures,
  viewersRead,
} from '../../api/errors.ts';
import { newId, toTimestamp } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { agentCredentials } from '../credentials/service.ts';
import { invitationEndless, notAnEmailAddress, otherUser, ownRole, personTaken } from './errors.ts';
import { invitationAcceptance } from './service.ts';
import { invitations, users } from './table.ts';

const inactive = 636;
const withoutKey = { headers: { authorization: undefined } };

async function invite(gatehouse: Gatehouse, role = 'member', options = {}) {
  const invitation = await gatehouse.create('/invitations', { name: newName('guest'), role }, options);
  return { id: String(invitation.id), link: String(invitation['link']), name: String(invitation['name']) };
}

async function join(gatehouse: Gatehouse, role = 'member') {
  const { link, name } = await invite(gatehouse, role);
  const { status, body, text } = await gatehouse.post('/invitations/accept', { link }, withoutKey);
  assert.equal(status, 200, text);
  return { id: String(body.user_id), token: String(body.token), name };
}

onEachGatehouse(
  'users',
  (g) => {
    const own = async () => (await g().create('/api_keys'))['owner_id'];

    test('those of the account are listed with name, role, keys and last use, to everyone in it', async () => {
      const { id, token, name } = await join(g(), 'viewer');
      const { body } = await g().get('/users?limit=1', { token });
      const { created_at, last_seen_at: _, ...shown } = body.users[0];
      assert.deepEqual(shown, { id, uri: `${g().url}/users/${id}`, name, role: 'viewer', active: true, api_keys: 1 });
      assert.match(created_at, /^\d{4}-/);
      await until(
        async () => (await g().get(`/users/${id}`)).body.last_seen_at !== undefined,
        'the use of the key is written',
      );
      const seenAt = async () => (await g().get(`/users/${id}`)).body.last_seen_at as string;
      const byKey = await seenAt();
      for (const bySession of ['2001-01-01T00:00:00Z', '2099-01-01T00:00:00Z']) {
        const sql = 'UPDATE users SET seen_at_ms = $2 WHERE id = $1';
        await g().app.context.store.writeUnlogged((writer) => writer.run(sql, [id, Date.parse(bySession)]));
        assert.equal(await seenAt(), bySession > byKey ? bySession : byKey, 'the later use counts');
      }
      assert.equal(
        (await g().get(`/users?filter=obj.role=="viewer"`)).body.users.some((user: { id: string }) => user.id === id),
        true,
      );
      const stranger = await createUser(g(), 'admin', await createAccount(g()));
      assert.equal((await g().get(`/users/${id}`, { token: stranger.token })).status, 404);
      assert.equal((await g().patch(`/users/${id}`, { active: false }, { token: stranger.token })).status, 404);
    });

    test('an admin changes name, address and role, and the next call with the key has the new rights', async () => {
      const { id, token } = await join(g());
      const name = newName('renamed');
      const changed = await g().patch(`/users/${id}`, { name, email: 'Mia@Example.com', role: 'viewer' });
      assert.deepEqual(
        [changed.status, changed.body.name, changed.body.email, changed.body.role],
        [200, name, 'Mia@Example.com', 'viewer'],
      );
      await refuses(g(), ['POST', '/ip_policies', {}, { token }], 403, viewersRead.code);
      await g().patch(`/users/${id}`, { role: 'admin' });
      assert.equal((await g().get('/changes?limit=1', { token })).status, 200);
      await g().patch(`/users/${id}`, { role: 'member', email: '' });
      await refuses(g(), ['POST', '/bot_users', { name: 'x' }, { token }], 403, 4111);
      assert.equal('email' in (await g().get(`/users/${id}`)).body, false);
    });

    test('a user has their own name, and nothing else of themselves or others', async () => {
      const [one, other] = [await join(g()), await join(g())];
      const as = { token: one.token };
      assert.equal((await g().patch(`/users/${one.id}`, { name: newName('me') }, as)).status, 200);
      await refuses(g(), ['PATCH', `/users/${one.id}`, { role: 'admin' }, as], 403, ownRole.code);
      await refuses(g(), ['PATCH', `/users/${one.id}`, { active: false }, as], 403, ownRole.code);
      await refuses(g(), ['PATCH', `/users/${one.id}`, { email: 'x@example.com' }, as], 403, adminOnly.code);
      await refuses(g(), ['PATCH', `/users/${other.id}`, { name: newName('you') }, as], 403, otherUser.code);
      await refuses(g(), ['POST', '/invitations', { name: 'x', role: 'viewer' }, as], 403, adminOnly.code);
      const viewer = await join(g(), 'viewer');
      await refuses(g(), ['PATCH', `/users/${viewer.id}`, { name: 'x' }, viewer], 403, viewersRead.code);
      await refuses(g(), ['POST', '/api_keys', {}, viewer], 403, viewersRead.code);
      const bot = await createBot(g());
      await refuses(g(), ['PATCH', `/users/${one.id}`, { name: 'x' }, bot], 403, otherUser.code);
    });

    test('the last admin stays one: nobody demotes or deactivates themselves, and of two who do it to each other one fails', async () => {
      const message = await refuses(g(), ['PATCH', `/users/${await own()}`, { role: 'member' }], 403, ownRole.code);
      assert.match(message, /another admin/);
      await refuses(g(), ['PATCH', `/users/${await own()}`, { active: false }], 403, ownRole.code);
      const account = await createAccount(g());
      for (const change of [{ role: 'viewer' }, { active: false }]) {
        const [one, two] = [await createUser(g(), 'admin', account), await createUser(g(), 'admin', account)];
        const answers = await Promise.all([
          g().patch(`/users/${two.id}`, change, { token: one.token }),
          g().patch(`/users/${one.id}`, change, { token: two.token }),
        ]);
        assert.deepEqual(
          answers.map(({ status }) => status).toSorted((a, b) => a - b),
          [200, 403],
        );
      }
    });

    test('one who is deactivated is out at once, with keys, sessions and agents, and back with the keys alone', async () => {
      const { id, token } = await join(g());
      const browser = await DashboardBrowser.signedIn(g(), token);
      const unused = await DashboardBrowser.signedIn(g(), token);
      assert.equal((await unused.get('/users')).status, 200);
      const credential = await g().create('/credentials', {}, { token });
      const verdict = async () =>
        (await g().app.context.services.get(agentCredentials).authenticate(credential.token)).verdict;
      assert.deepEqual([(await browser.get('/users')).status, await verdict()], [200, 'valid']);
      const { body } = await g().patch(`/users/${id}`, { active: false });
      assert.equal(body.active, false);
      await refuses(g(), ['GET', '/users', undefined, { token }], 403, inactive);
      assert.equal((await browser.get('/users')).status, 403);
      assert.equal((await new DashboardBrowser(g()).signIn(token)).status, 403);
      assert.equal(await verdict(), 'inactive_owner');
      await refuses(g(), ['POST', '/api_keys', { owner_id: id }], 400, 20022);
      await g().patch(`/users/${id}`, { active: true });
      assert.equal((await g().get('/users', { token })).status, 200);
      assert.equal((await browser.get('/users')).status, 401, 'the session stays over');
      assert.equal((await unused.get('/users')).status, 401, 'also one that nobody has used meanwhile');
      assert.equal(await verdict(), 'valid');
      await g().patch(`/users/${id}`, { role: 'viewer' });
      assert.equal(await verdict(), 'inactive_owner', 'a viewer serves nothing');
    });

    test('names and addresses are those of one user or invitation, and addresses are addresses', async () => {
      const guest = await g().create('/invitations', {
        name: newName('guest'),
        email: 'eva@example.com',
        role: 'viewer',
      });
      const { id, name } = await join(g());
      for (const body of [{ name }, { name: guest['name'] }, { name: newName('x'), email: 'EVA@example.com' }]) {
        const message = await refuses(
          g(),
          ['POST', '/invitations', { role: 'viewer', ...body }],
          409,
          personTaken.code,
        );
        assert.ok(message.includes(body.name === name ? id : guest.id), message);
      }
      await refuses(g(), ['PATCH', `/users/${id}`, { name: guest['name'] }], 409, personTaken.code);
      await refuses(g(), ['PATCH', `/users/${id}`, { email: 'eva@example.com' }], 409, personTaken.code);
      await refuses(g(), ['PATCH', `/invitations/${guest.id}`, { name }], 409, personTaken.code);
      await assert.rejects(
        runOnHost(g(), 'users create', { account: 'default', name, role: 'member' }),
        /usr_\w+ in this account already has the /,
      );
      for (const email of ['eva', 'eva@', '@example.com', 'e va@example.com', 'eva@example.com\0'])
        await refuses(g(), ['PATCH', `/users/${id}`, { email }], 400, notAnEmailAddress.code);
      for (const bad of ['', ' ', 'a\0b']) await refuses(g(), ['PATCH', `/users/${id}`, { name: bad }], 400, 215);
      await refuses(g(), ['PATCH', `/users/${id}`, { role: 'king' }], 400, 215);
    });

    test('a change of a role is reverted, with the same checks', async () => {
      const { id } = await join(g());
      await g().patch(`/users/${id}`, { role: 'admin' });
      const [change] = (await g().get(`/changes?resource_id=${id}&limit=1`)).body.changes;
      assert.equal((await g().post(`/changes/${change.id}/revert`)).status, 200);
      assert.equal((await g().get(`/users/${id}`)).body.role, 'member');
      const made = await createUser(g(), 'member');
      const [creation] = (await g().get(`/changes?resource_id=${made.id}`)).body.changes;
      const message = await refuses(g(), ['POST', `/changes/${creation.id}/revert`], 409, notReverted.code);
      assert.match(message, /a user stays/);
      await g().patch(`/users/${made.id}`, { role: 'viewer' });
      await g().patch(`/users/${made.id}`, { role: 'member', email: `${made.id}@example.com` });
      const later = await refuses(g(), ['POST', `/changes/${creation.id}/revert`], 409, notReverted.code);
      assert.equal(later, message, 'nobody is told to delete a user, which no call does');
      assert.equal((await g().get('/users', { token: made.token })).status, 200);
      // Nobody takes their own role of an admin back: a call could not do it either.
      const other = await join(g());
      await g().patch(`/users/${other.id}`, { role: 'admin' });
      const [rise] = (await g().get(`/changes?resource_id=${other.id}&limit=1`)).body.changes;
      await refuses(g(), ['POST', `/changes/${rise.id}/revert`, undefined, other], 403, ownRole.code);
      assert.equal((await g().get(`/users/${other.id}`)).body.role, 'admin');
    });
  },
  { trustedProxies: '127.0.0.1' },
);

onEachGatehouse(
  'an invitation',
  (g) => {
    const accept = (link: unknown, options: object = withoutKey) => g().post('/invitations/accept', { link }, options);
    const isOver = async (link: string) => {
      const { status, body } = await accept(link);
      assert.deepEqual([status, body.error_code], [404, `ERR_GATEHOUSE_${invitationOver.code}`]);
      assert.ok(!body.msg.includes(link.slice(-20)), body.msg);
    };

    test('has a link that is shown once and makes a user with a key, who is the author of it in the log', async () => {
      const name = newName('guest');
      const { link, ...made } = await g().create('/invitations', {
        name,
        email: `${name.length}@example.com`,
        role: 'member',
      });
      assert.match(String(link), new RegExp(`^${g().url}/dashboard/#invite=\\w{27}_\\w{43}$`));
      assert.deepEqual((await g().get(`/invitations/${made.id}`)).body, { ...made, link: null });
      const show = () => g().post('/invitations/show', { link }, withoutKey);
      const { status: shownStatus, body: shown } = await show();
      const own = (await g().get('/users')).body.users.find(({ id }: { id: string }) => id === made['invited_by']);
      assert.deepEqual(
        [shownStatus, shown],
        [
          200,
          {
            name,
            email: made['email'],
            role: 'member',
            invited_by: own.name,
            account: 'default',
            expires_at: made['expires_at'],
          },
        ],
      );
      const lastsHours = (Date.parse(String(made['expires_at'])) - Date.now()) / 3_600_000;
      assert.ok(lastsHours > 71 && lastsHours <= 72);
      await g().patch(`/invitations/${made.id}`, { role: 'viewer' });
      const { status, body } = await accept(link, from('198.51.100.7', withoutKey));
      assert.deepEqual([status, body.name, body.role], [200, name, 'viewer']);
      const user = (await g().get('/users?limit=1', { token: body.token })).body.users[0];
      assert.deepEqual([user.id, user.name, user.role], [body.user_id, name, 'viewer']);
      assert.equal((await DashboardBrowser.signedIn(g(), body.token)).cookie !== undefined, true);
      assert.equal((await g().get(`/invitations/${made.id}`)).status, 404);
      const { changes } = (await g().get(`/changes?actor=${body.user_id}`)).body;
      assert.deepEqual(
        changes.map((each: Record<string, string>) => [each['kind'], each['action'], each['source'], each['scope']]),
        [
          ['api_key', 'create', '198.51.100.7', 'api'],
          ['user', 'create', '198.51.100.7', 'api'],
          ['invitation', 'delete', '198.51.100.7', 'api'],
        ],
      );
      await isOver(String(link));
      assert.equal((await show()).status, 404);
    });

    test('is accepted by what stands in the link too, and once, however many try', async () => {
      const { link, name } = await invite(g());
      const token = link.slice(link.indexOf('=') + 1);
      const answers = await Promise.all(Array.from({ length: 8 }, () => accept(token)));
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 7 }, () => 404)],
      );
      const named = (await g().get(`/users?filter=obj.name=="${name}"`)).body.users;
      assert.equal(named.length, 1);
    });

    test('ends when it is taken back, when its time is up, and with the rights of whoever made it', async () => {
      const back = await invite(g());
      await g().delete(`/invitations/${back.id}`);
      await isOver(back.link);
      for (const change of [{ role: 'member' }, { active: false }]) {
        const inviter = await createUser(g(), 'admin');
        const { link } = await invite(g(), 'admin', { token: inviter.token });
        await g().patch(`/users/${inviter.id}`, change);
        await isOver(link);
      }
      const { id, link, name } = await invite(g());
      const before = (await g().get(`/invitations/${id}`)).body.expires_at;
      const sql = 'UPDATE invitations SET document = replace(document, $2, $3) WHERE id = $1';
      const values = [id, before, toTimestamp(Date.now())];
      await g().app.context.store.writeUnlogged(async (notes) => notes.run(sql, values));
      await isOver(link);
      const again = await g().create('/invitations', { name, role: 'member' });
      assert.equal((await accept(again['link'])).status, 200, 'its name is free again');
    });

    test('lets nobody in whose inviter loses the role, or is deactivated, while it is accepted', async () => {
      const { services, store } = g().app.context;
      const acceptance = services.get(invitationAcceptance);
      for (const change of [{ role: 'member' }, { active: false }] as const) {
        const inviter = await createUser(g(), 'admin');
        const { id, link } = await invite(g(), 'admin', { token: inviter.token });
        const [token = ''] = /\w+$/.exec(link) ?? [];
        const call = { operationId: newId('op'), source: parseIp('192.0.2.1') ?? assert.fail(), scope: 'api' } as const;
        const accountId = await acceptance.accountOf(token);
        assert(accountId !== undefined, link);
        const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const actor = { id: inviter.id, accountId, operationId: newId('op') };
        const changing = store.write(actor, async (transaction) => {
          begun.resolve();
          await goesOn.promise;
          const user = (await users.load(transaction, inviter.id)) ?? assert.fail();
          await users.update(transaction, user, { ...user, ...change });
        });
        await begun.promise;
        assert.equal(await acceptance.accountOf(token), accountId, 'nothing has changed yet');
        // Writes have an order: that of the acceptance comes after the change, which has begun.
        const accepting = acceptance.accept(token, call);
        goesOn.resolve();
        await changing;
        assert.equal(await accepting, undefined);
        assert.equal(await acceptance.accountOf(token), undefined, 'nor before a write');
        assert.equal((await g().get(`/invitations/${id}`)).status, 200, 'it is not used up');
      }
    });

    test('lets nobody in when its time is over before it is accepted', async () => {
      const { services, store } = g().app.context;
      const { id, link } = await invite(g(), 'member');
      const [token = ''] = /\w+$/.exec(link) ?? [];
      const invitation = (await invitations.load(store.queries, id)) ?? assert.fail();
      const actor = { id: 'host', accountId: invitation.account_id, operationId: newId('op') };
      const over = { ...invitation, expires_at: toTimestamp(Date.now() - 1_000) };
      await store.write(actor, (transaction) => invitations.update(transaction, invitation, over));
      const call = { operationId: newId('op'), source: parseIp('192.0.2.1') ?? assert.fail(), scope: 'api' } as const;
      assert.equal(await services.get(invitationAcceptance).accept(token, call), undefined);
      assert.equal(await services.get(invitationAcceptance).accountOf(token), undefined);
    });

    test('is not made with a token that ends, and nothing but a link accepts one', async () => {
      const { token } = await g().create('/api_keys', { expires_at: '2099-01-01T00:00:00Z' });
      const body = { name: newName('guest'), role: 'admin' };
      await refuses(g(), ['POST', '/invitations', body, { token }], 403, invitationEndless.code);
      for (const [sent, status, code] of [
        [{}, 400, 20012],
        [{ link: 7 }, 400, 215],
        [{ link: 'x', more: 1 }, 400, 214],
        [[], 400, 213],
        [{ link: 'x' }, 404, invitationOver.code],
        [{ link: `${'0'.repeat(27)}_${'a'.repeat(43)}` }, 404, invitationOver.code],
      ] as const)
        await refuses(g(), ['POST', '/invitations/accept', sent, withoutKey], status, code);
      const tooLong = { link: 'x'.repeat(5_000) };
      const message = await refuses(g(), ['POST', '/invitations/accept', tooLong, withoutKey], 413, bodyTooLarge.code);
      assert.match(message, /larger than 4096 bytes/);
      await refuses(g(), ['GET', '/invitations/accept', undefined, withoutKey], 405, 20002);
      const { link } = await invite(g());
      const last = link.at(-1) === 'a' ? 'b' : 'a';
      await isOver(`${link.slice(0, -1)}${last}`);
      await new DashboardBrowser(g(), { origin: 'https://evil.example' })
        .call('POST', '/invitations/accept', { link })
        .then(({ status }) => assert.equal(status, 403));
      assert.equal((await accept(link)).status, 200);
    });

    test('is accepted from addresses alone that the account lets in, by the page and by the API', async () => {
      const admin = await createUser(g(), 'admin', await createAccount(g()));
      const as = { token: admin.token };
      const policy = await g().create('/ip_policies', {}, as);
      await g().create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' }, as);
      const { link } = await invite(g(), 'member', as);
      await g().create(
        '/ip_restrictions',
        { type: 'dashboard', enforced: true, ip_policy_ids: [policy.id] },
        { ...as, headers: { 'gatehouse-allow-lockout': 'true' } },
      );
      const outside = new DashboardBrowser(g(), { 'x-forwarded-for': '198.51.100.1' });
      assert.equal((await outside.call('POST', '/invitations/show', { link })).status, 403);
      assert.equal((await outside.call('POST', '/invitations/accept', { link })).status, 403);
      const inside = new DashboardBrowser(g(), { 'x-forwarded-for': '192.0.2.1' });
      assert.equal((await inside.call('POST', '/invitations/accept', { link })).status, 200);
    });
  },
  { trustedProxies: '127.0.0.1', authFailures: 'off' },
);

onEachDatabase('users and invitations', (newDatabase) => {
  test('guesses of a link are slowed down and refused together with failed authentications', async () => {
    const settings = { authFailures: '2', authFailuresSlowed: '0' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const wrong = `${'0'.repeat(27)}_${'a'.repeat(43)}`;
    const answers = [];
    for (let count = 0; count < 3; count++)
      answers.push(await gatehouse.post('/invitations/accept', { link: wrong }, withoutKey));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 429],
    );
    assert.equal(answers[2]?.body.error_code, `ERR_GATEHOUSE_${tooManyFailures.code}`);
    assert.equal((await gatehouse.get('/users', { token: wrong })).status, 429);
    const { link } = await invite(gatehouse);
    assert.equal((await gatehouse.post('/invitations/accept', { link }, withoutKey)).status, 200);
  });

  test('one link makes one user in several processes, and who is deactivated in one is out in all', async () => {
    const url = await newDatabase();
    await using one = await Gatehouse.start(url);
    await using other = await Gatehouse.start(url, { role: 'api' });
    for (let round = 0; round < 5; round++) {
      const { link } = await invite(one);
      const answers = await Promise.all(
        [one, other, one, other].map((each) => each.post('/invitations/accept', { link }, withoutKey)),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 404, 404, 404],
      );
    }
    const { id, token } = await join(one);
    const browser = await DashboardBrowser.signedIn(one, token);
    const elsewhere = new DashboardBrowser(other);
    [elsewhere.cookie, elsewhere.secret] = [browser.cookie, browser.secret];
    await until(async () => (await other.get('/users', { token })).status === 200, 'the other process knows the key');
    assert.equal((await elsewhere.get('/users')).status, 200);
    await one.patch(`/users/${id}`, { active: false });
    await until(async () => (await other.get('/users', { token })).status === 403, 'the other process refuses the key');
    assert.equal((await elsewhere.get('/users')).status, 403);
  });
});
