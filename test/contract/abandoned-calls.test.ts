import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { nextTurn } from '../../src/lib/next-turn.ts';
import { failAt } from '../support/database-faults.ts';
import type { Gatehouse } from '../support/gatehouse.ts';
import { createAccount, createUser } from '../support/people.ts';
import { onEachGatehouse } from '../support/shared-gatehouse.ts';

interface Read {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

/** Comparisons for each row, so that a step of a search has few of them. */
const slowFilter = Array.from({ length: 250 }, (_, at) => `obj.id=="${at}"`).join('||');
const query = `?filter=${encodeURIComponent(slowFilter)}`;
const policies = Array.from({ length: 400 }, (_, at) => ({
  kind: 'ip_policies',
  name: `p${at}`,
  rules: ['10.0.0.1/32'],
}));

onEachGatehouse(
  'a caller who leaves',
  (g) => {
    test('has nothing more read, and the account has its place back', async (t) => {
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const made = await g().post('/configuration', policies, { token });
      assert.equal(made.status, 200, made.text);
      const id = (await g().get('/ip_policies?limit=1', { token })).body.ip_policies[0].id;
      const cidrs = Array.from({ length: 1_000 }, (_, at) => ({ cidr: `10.${at >> 8}.${at & 255}.0/24` }));
      assert.equal((await g().put(`/ip_policies/${id}/rules`, cidrs, { token })).status, 200);
      const changed = policies.map((entry) => ({ ...entry, description: 'another' }));
      const reads: readonly Read[] = [
        { method: 'GET', path: `/ip_policy_rules${query}` },
        { method: 'GET', path: `/ip_policies/${id}/rules${query}` },
        { method: 'GET', path: '/configuration' },
        { method: 'POST', path: '/configuration?dry_run=true', body: changed },
      ];
      for (const { method, path, body } of reads) {
        const whole = await statementsOf(async () => {
          const { status, text } = await g().call(method, path, body, { token });
          // On a slow machine it may be refused in the end.
          assert.ok(status === 200 || text.includes('The filter looked at'), text);
        });
        const read = await statementsOf(async (met) => {
          await leaveAfter(g(), token, { method, path, body }, () => met() > whole / 20);
          // The account may have one call in progress.
          assert.equal((await g().get('/ip_policies?limit=1', { token })).status, 200);
        });
        t.diagnostic(`${method} ${path.split('?', 1)[0] ?? ''}: ${read} of ${whole} statements`);
        assert.ok(read < whole / 2, `${read} of ${whole} statements of ${method} ${path.slice(0, 40)}`);
      }
      const isFault = (line: string) => Number(JSON.parse(line).level) >= 50;
      assert.deepEqual(g().logLines.filter(isFault), []);
    });

    test('gets a change that has begun', async () => {
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const call = { method: 'POST', path: '/configuration', body: policies } as const;
      await statementsOf((met) => leaveAfter(g(), token, call, () => met() > policies.length));
      const { body } = await g().get('/ip_policies?limit=1', { token });
      assert.equal(body.ip_policies.length, 1);
    });
  },
  { accountCalls: '1' },
);

/** Milliseconds by which the clock is ahead. */
let aheadMs = 0;
const readClock = performance.now.bind(performance);
performance.now = () => readClock() + aheadMs;

/** Counts the statements of some work. Each takes a millisecond more, so that a fast machine reads few of them in a slice. */
async function statementsOf(work: (met: () => number) => Promise<void>): Promise<number> {
  using counted = failAt(Number.POSITIVE_INFINITY, 'lost', false, {
    onStatement: () => {
      aheadMs += 1;
    },
  });
  await work(() => counted.met.length);
  return counted.met.length;
}

/** Sends a call, and closes its connection when the time has come. */
async function leaveAfter(
  { url }: Gatehouse,
  token: string,
  { method, path, body }: Read,
  isTime: () => boolean,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const sent = body === undefined ? '' : JSON.stringify(body);
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nService-Version: 2\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n${sent}`,
  );
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes.toString()));
  for (; !isTime(); await nextTurn()) assert.equal(answer, '', 'it was answered before');
  socket.destroy();
}
