import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createBot, createUser, newName } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

type Who = 'admin' | 'member' | 'bot';

onEachGatehouse('rights', (g) => {
  test('admins may all; members and bots all but naming owners, others’ keys, bots and restrictions', async () => {
    const member = await createUser(g(), 'member');
    const bot = await createBot(g());
    const admin = await g().create('/api_keys');
    const tokens: Record<Who, string> = { admin: admin.token, member: member.token, bot: bot.token };
    const policy = (await g().create('/ip_policies')).id;
    const table: [string, () => Promise<[string, string, unknown?]>, Record<Who, number>][] = [
      ['create a key', async () => ['POST', '/api_keys'], { admin: 201, member: 201, bot: 201 }],
      [
        'name another owner',
        async () => ['POST', '/api_keys', { owner_id: (await createBot(g())).id }],
        { admin: 201, member: 403, bot: 403 },
      ],
      ['list keys', async () => ['GET', '/api_keys'], { admin: 200, member: 200, bot: 200 }],
      [
        'update another’s key',
        async () => ['PATCH', `/api_keys/${(await g().create('/api_keys')).id}`, {}],
        { admin: 200, member: 403, bot: 403 },
      ],
      [
        'delete another’s key',
        async () => ['DELETE', `/api_keys/${(await g().create('/api_keys')).id}`],
        { admin: 204, member: 403, bot: 403 },
      ],
      [
        'create a bot',
        async () => ['POST', '/bot_users', { name: newName('bot') }],
        { admin: 201, member: 403, bot: 403 },
      ],
      [
        'update a bot',
        async () => ['PATCH', `/bot_users/${(await createBot(g())).id}`, {}],
        { admin: 200, member: 403, bot: 403 },
      ],
      [
        'delete a bot',
        async () => ['DELETE', `/bot_users/${(await createBot(g())).id}`],
        { admin: 204, member: 403, bot: 403 },
      ],
      ['list bots', async () => ['GET', '/bot_users'], { admin: 200, member: 200, bot: 200 }],
      ['create a policy', async () => ['POST', '/ip_policies'], { admin: 201, member: 201, bot: 201 }],
      [
        'replace rules',
        async () => ['PUT', `/ip_policies/${policy}/rules`, ['10.0.0.0/8']],
        { admin: 200, member: 200, bot: 200 },
      ],
      [
        'create a restriction',
        async () => ['POST', '/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] }],
        { admin: 201, member: 403, bot: 403 },
      ],
      ['list restrictions', async () => ['GET', '/ip_restrictions'], { admin: 200, member: 200, bot: 200 }],
      [
        'create a backend',
        async () => ['POST', '/backends/static', { address: 'localhost:80' }],
        { admin: 201, member: 201, bot: 201 },
      ],
      ['create a TCP edge', async () => ['POST', '/edges/tcp'], { admin: 201, member: 201, bot: 201 }],
      ['create an HTTPS edge', async () => ['POST', '/edges/https'], { admin: 201, member: 201, bot: 201 }],
    ];
    for (const [what, request, expected] of table) {
      for (const who of ['admin', 'member', 'bot'] as const) {
        const [method, path, body] = await request();
        const answer = await g().call(method, path, body, { token: tokens[who] });
        assert.equal(answer.status, expected[who], `${what} as ${who}: ${answer.text}`);
      }
    }
  });
});
