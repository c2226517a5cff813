import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { makePair } from '../../test/support/certificate-pair.ts';
import { onEachDatabase } from '../../test/support/each-database.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { createAccount, createBot, createUser, runOnHost } from '../../test/support/people.ts';

/** Where the framework says that it handles a request. */
const frameworkChannel = 'tracing:fastify.request.handler:start';

onEachDatabase('direct answers', (newDatabase) => {
  // In a suite of its own: both stop before their database does.
  describe('beside the general way', () => {
    let direct: Gatehouse;
    /** Over the same database; a limit of the rate keeps every call of it in the framework. */
    let general: Gatehouse;
    before(async () => {
      const url = await newDatabase();
      const settings = { trustedProxies: '127.0.0.1' };
      direct = await Gatehouse.start(url, settings);
      general = await Gatehouse.start(url, { ...settings, rateLimit: '1000000' });
    });
    after(async () => {
      await general[Symbol.asyncDispose]();
      await direct[Symbol.asyncDispose]();
    });

    /** Requests on one connection, the last of which closes it; answers without what differs from call to call. */
    const exchange = async ({ url }: Gatehouse, requests: readonly string[]) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => {});
      for (const [at, each] of requests.entries()) {
        socket.write(each);
        if (at < requests.length - 1) await once(socket, 'data');
      }
      await once(socket, 'close');
      return text
        .replaceAll(/op_\w{27}/g, 'op')
        .replaceAll(port, 'port')
        .replaceAll(/^(?:date|x-ratelimit-[a-z]+):.*\r\n/gim, '');
    };

    const request = (path: string, { token = direct.token, method = 'GET', more = '', close = false } = {}) =>
      `${method} ${path} HTTP/1.1\r\nHost: gatehouse.test\r\nAuthorization: Bearer ${token}\r\nService-Version: 2\r\n` +
      `${more}${close ? 'Connection: close\r\n' : ''}\r\n`;

    const countFramework = async (work: () => Promise<unknown>) => {
      let seen = 0;
      const count = () => {
        seen += 1;
      };
      subscribe(frameworkChannel, count);
      await work();
      unsubscribe(frameworkChannel, count);
      return seen;
    };

    const oneOfEachKind = async () => {
      const policy = await direct.create('/ip_policies', { description: 'ä "quoted" \u2028' });
      const backend = await direct.create('/backends/static', { address: '127.0.0.1:9' });
      const edge = { backend: { backend_id: backend.id } };
      return [
        await direct.create('/api_keys', { description: 'a key' }),
        policy,
        await direct.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '10.0.0.0/8', action: 'allow' }),
        await direct.create('/ip_restrictions', { type: 'agent', enforced: false, ip_policy_ids: [policy.id] }),
        backend,
        await direct.create('/edges/tcp', { hostports: ['direct.example:10001'], ...edge }),
        await direct.create('/edges/https', { hostports: ['direct.example:443'] }),
        await direct.create(
          '/tls_certificates',
          makePair('direct', '-subj', '/CN=direct.example', '-addext', 'subjectAltName=DNS:direct.example'),
        ),
        await direct.create('/bot_users', { name: 'directly answered' }),
      ].map(({ uri }) => new URL(uri).pathname);
    };

    test('are those of the general way to the byte, for every kind of resource, and pass it by', async () => {
      for (const path of await oneOfEachKind()) {
        await direct.get(path);
        const requests = [request(path), request(path), request(path, { close: true })];
        let answers = '';
        const seen = await countFramework(async () => {
          answers = await exchange(direct, requests);
        });
        // The first call on a connection is.
        assert.equal(seen, 1, `${path}: ${seen} of 3 calls were seen by the framework`);
        assert.equal(answers.match(/HTTP\/1\.1 200 OK/g)?.length, 3, path);
        assert.equal(answers, await exchange(general, requests), path);
      }
    });

    test('leave everything unusual to the general way, which answers as ever', async () => {
      const key = await direct.create('/api_keys', { description: 'plain' });
      const foreign = await createUser(direct, 'admin', await createAccount(direct));
      const bot = await createBot(direct);
      const path = `/api_keys/${key.id}`;
      const wrong = `${key.token.slice(0, -1)}${key.token.endsWith('a') ? 'b' : 'a'}`;
      const plain = (line: string, headers: string) => `${line}\r\n${headers}Connection: close\r\n\r\n`;
      const credentials = `Authorization: Bearer ${key.token}\r\nService-Version: 2\r\n`;
      const close = true;
      const unusual = [
        request(path, { token: wrong, close }),
        request(path, { token: key.id, close }),
        request(path, { token: foreign.token, close }),
        request(path, { token: bot.token, close }),
        request(path, { more: 'Service-Version: 2\r\n', close }),
        request(path, { more: 'Authorization: Bearer x\r\n', close }),
        request(path, { more: 'Host: other.test\r\n', close }),
        request(path, { more: 'Content-Length: 0\r\n', close }),
        request(path, { more: 'Content-Type: text/plain\r\n', close }),
        request(path, { more: 'Content-Length: 2\r\n', close }) + '{}',
        request(path, { more: 'Transfer-Encoding: chunked\r\n', close }) + '0\r\n\r\n',
        request(path, { more: 'If-Match: "other"\r\nIf-None-Match: *\r\n', close }),
        request(path, { more: 'X-Forwarded-Proto: https\r\nX-Forwarded-Host: shown.test\r\n', close }),
        request(path, { more: 'Expect: 100-continue\r\n', close }),
        request(path, { more: 'Expect: something\r\n', close }),
        ...['HEAD', 'POST', 'OPTIONS'].map((method) => request(path, { method, close })),
        ...['?', '?limit=1', '#x', '/', '%20', '_', ';x', '/x', '%00'].map((end) => request(path + end, { close })),
        ...[`/${path}`, `http://gatehouse.test${path}`, '/api_keys/', '/api_keys/ak_0', `/ip_policies/${key.id}`].map(
          (target) => request(target, { close }),
        ),
        request(`/api_keys/${key.id.toLowerCase()}`, { close }),
        request(`/api_keys/${foreign.id}`, { close }),
        plain(`GET ${path} HTTP/1.1`, credentials),
        plain(`GET ${path} HTTP/1.1`, `Host: gatehouse.test\r\nService-Version: 2\r\n`),
        plain(`GET ${path} HTTP/1.1`, `Host: gatehouse.test\r\nAuthorization: Bearer ${key.token}\r\n`),
        plain(`GET ${path} HTTP/1.1`, `Host: a b\r\n${credentials}`),
        plain(`GET ${path} HTTP/1.0`, credentials),
        plain(`GET ${path} HTTP/1.0`, `Host: gatehouse.test\r\n${credentials}`),
        plain(`GET ${path} HTTP/1.1`, `Host:\r\n${credentials}`),
        plain(`GET ${path} HTTP/1.1`, `Host: :80\r\n${credentials}`),
        plain(`GET ${path} HTTP/1.1`, `Host: gatehouse.test\r\n${credentials.replace(': 2', ': 1')}`),
        plain(`GET ${path} HTTP/1.1`, `Host: gatehouse.test\r\n${credentials.replace('Bearer', 'bearer')}`),
      ];
      for (const last of unusual) {
        const requests = [request(path, { token: key.token }), request(path, { token: key.token }), last];
        assert.equal(await exchange(direct, requests), await exchange(general, requests), last);
      }
    });

    test('end at once with what they stood on, on a connection that was let in before', async () => {
      const bot = await direct.create('/bot_users', { name: 'leaver' });
      const { token } = await direct.create('/api_keys', { owner_id: bot.id });
      const policy = await direct.create('/ip_policies', { description: 'first' });
      const path = `/ip_policies/${policy.id}`;
      const call = () => direct.get(path, { token });
      for (let at = 0; at < 3; at++) assert.equal((await call()).body.description, 'first');
      await direct.patch(path, { description: 'second' });
      assert.equal((await call()).body.description, 'second');
      const none = await direct.create('/ip_policies');
      const restriction = await direct.create(
        '/ip_restrictions',
        { type: 'api', enforced: true, ip_policy_ids: [none.id] },
        { headers: { 'gatehouse-allow-lockout': 'true' } },
      );
      assert.equal((await call()).body.error_code, 'ERR_GATEHOUSE_220');
      await runOnHost(direct, 'restrictions disable', { id: restriction.id });
      const warned = await call();
      assert.equal(warned.status, 200);
      assert.equal(warned.headers.get('gatehouse-warning'), restriction.id);
      await direct.delete(`/ip_restrictions/${restriction.id}`);
      assert.equal((await call()).headers.get('gatehouse-warning'), null);
      await direct.patch(`/bot_users/${bot.id}`, { active: false });
      assert.equal((await call()).body.error_code, 'ERR_GATEHOUSE_636');
      await direct.delete(`/bot_users/${bot.id}`);
      assert.equal((await call()).body.error_code, 'ERR_GATEHOUSE_203');
      await direct.delete(path);
      assert.equal((await direct.get(path)).status, 404);
    });

    test('are in the request log as every other call is', async () => {
      const { id } = await direct.create('/api_keys');
      for (let at = 0; at < 3; at++) await direct.get(`/api_keys/${id}`);
      const lines = direct.logLines.map((line) => JSON.parse(line)).filter(({ path }) => path === `/api_keys/${id}`);
      assert.equal(lines.length, 3);
      for (const line of lines) {
        assert.deepEqual(
          [line.method, line.status, line.source, line.msg, typeof line.duration_ms],
          ['GET', 200, '127.0.0.1', 'request', 'number'],
        );
        assert.match(line.operation_id, /^op_\w{27}$/);
        assert.match(line.principal, /^usr_/);
      }
    });
  });
});
