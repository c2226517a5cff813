import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createUser } from '../../../test/support/people.ts';
import { rawRequest } from '../../../test/support/raw-request.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { readVersion } from '../../store/write/change-log.ts';

onAnyGatehouse(
  'a header that comes twice',
  (g) => {
    const common = () => ({
      Host: 'x',
      Authorization: `Bearer ${g().token}`,
      'Service-Version': '2',
      'Content-Type': 'application/json',
      'Idempotency-Key': 'one',
    });
    const post = (more: readonly string[], own: Record<string, string> = {}) => {
      const lines = Object.entries({ ...common(), ...own }).map(([name, value]) => `${name}: ${value}`);
      const bytes = [
        'POST /ip_policies HTTP/1.1',
        ...lines,
        ...more,
        'Connection: close',
        'Content-Length: 2',
        '',
        '{}',
      ];
      return rawRequest(g().url, bytes.join('\r\n'));
    };
    const refused = async (more: readonly string[], code: number) => {
      const { queries } = g().app.context.store;
      const before = await readVersion(queries);
      const { status, body } = await post(more);
      assert.equal(status, 400, `${more.join()} ${body}`);
      assert.equal(JSON.parse(body).error_code, `ERR_GATEHOUSE_${code}`, more.join());
      assert.equal(await readVersion(queries), before, more.join());
      return String(JSON.parse(body).msg);
    };

    test('is refused where only one would count: Authorization, Host, Content-Type, Idempotency-Key', async () => {
      const member = await createUser(g(), 'member');
      for (const line of [
        `Authorization: Bearer ${member.token}`,
        `aUTHORIZATION: Bearer ${g().token}`,
        'Authorization:',
        'Host: x',
        'hOST: b.example',
        'Content-Type: application/json',
        'content-type: text/plain',
        'Idempotency-Key: two',
      ]) {
        const message = await refused([line], 20057);
        assert.ok(message.toLowerCase().includes(line.split(':')[0]?.toLowerCase() ?? ''), message);
        assert.ok(!message.includes('Bearer'), message);
      }
    });

    test('is refused on paths without a token too', async () => {
      const { status } = await rawRequest(
        g().url,
        'GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n',
      );
      assert.equal(status, 400);
    });

    test('is refused for its form where the values are joined: Service-Version, Content-Length', async () => {
      await refused(['Service-Version: 2'], 217);
      await refused(['Content-Length: 2'], 20024);
      await refused(['Transfer-Encoding: chunked'], 20024);
    });

    test('does not open the lock-out guard', async () => {
      const policy = await g().create('/ip_policies');
      const body = JSON.stringify({ type: 'api', enforced: true, ip_policy_ids: [policy.id] });
      const answer = await g().call('POST', '/ip_restrictions', undefined, {
        raw: body,
        headers: { 'gatehouse-allow-lockout': 'true, true' },
      });
      assert.equal(answer.status, 409);
    });

    test('is one list where a list is meant: If-Match, X-Forwarded-For', async () => {
      const policy = await g().post('/ip_policies', { description: 'a' });
      const tag = policy.headers.get('etag') ?? '';
      const { status } = await rawRequest(
        g().url,
        [
          `DELETE /ip_policies/${policy.body.id} HTTP/1.1`,
          ...Object.entries(common()).map(([name, value]) => `${name}: ${value}`),
          'If-Match: "another"',
          `If-Match: ${tag}`,
          'X-Forwarded-For: 192.0.2.1',
          'X-Forwarded-For: 192.0.2.2',
          'Connection: close',
          '',
          '',
        ].join('\r\n'),
      );
      assert.equal(status, 204);
      const lines = g().logLines.filter((line) => line.includes(policy.body.id));
      // From right to left, past the trusted proxy: the last one is the client.
      assert.equal(JSON.parse(lines.at(-1) ?? '').source, '192.0.2.2');
    });

    test('names no host where a proxy sends it: the URIs are those of the request itself', async () => {
      const forwarded = ['X-Forwarded-Host: a.example', 'X-Forwarded-Host: b.example', 'X-Forwarded-Proto: https'];
      const { body } = await post(forwarded, { 'Idempotency-Key': 'another' });
      assert.match(JSON.parse(body).uri, /^https:\/\/x\/ip_policies\/ipp_/);
    });
  },
  { trustedProxies: '127.0.0.0/8, ::1' },
);
