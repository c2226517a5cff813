import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decision } from '../../../test/support/decisions.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import type { Gatehouse } from '../../../test/support/gatehouse.ts';
import type { Decision } from '../../decisions/decision-line.ts';
import type { Decisions } from '../../decisions/decisions.ts';
import { keptDecisions } from './service.ts';

/** The store of a Gatehouse, to put decisions in. */
function storeOf({ app }: Gatehouse): Decisions {
  // start/open-and-publish.ts provides the whole of it.
  return app.context.services.get(keptDecisions) as Decisions;
}

onAnyGatehouse(
  'decisions',
  (g) => {
    /** Keeps decisions of a new account, and returns a way to read their paths. */
    async function keep(...all: Partial<Decision>[]) {
      const account = await createAccount(g());
      const { token } = await createUser(g(), 'viewer', account);
      for (const [at, each] of all.entries()) storeOf(g()).add(account, decision({ path: `/${at}`, ...each }));
      const ask = (query: string) => g().get(`/decisions${query}`, { token });
      const paths = async (query = '') => {
        const { status, body } = await ask(query);
        assert.equal(status, 200, JSON.stringify(body));
        return body.decisions.map(({ path }: { path: string }) => path).join(' ');
      };
      return { token, ask, paths };
    }

    test('are those of the account of the key, and no other', async () => {
      const [one, other] = [await keep({ path: '/one' }), await keep({ path: '/other' })];
      const nobody = await keep();
      assert.equal(await one.paths(), '/one');
      assert.equal(await other.paths(), '/other');
      assert.equal(await nobody.paths(), '');
      const { id } = (await one.ask('')).body.decisions[0];
      const next = `dec_${String(Number(id.slice(4, 21)) + 3_600_000_000).padStart(17, '0')}00000000`;
      assert.equal(await other.paths(`?before_id=${next}`), '/other');
    });

    test('are shown with what was decided, without what is none', async () => {
      const atMs = Date.parse('2026-11-14T10:11:14Z');
      const { ask } = await keep({
        at_ms: atMs,
        verdict: 'refused',
        rule: 'ipx_1 ipx_2',
        module: 'ip_restriction',
        status: 403,
        code: 3205,
        upstream_us: -1,
        backend_id: '',
        worker: 0,
      });
      const { body } = await ask('');
      const [{ id, gateway, ...shown }] = body.decisions;
      assert.match(id, /^dec_\d{17}[0-9a-f]{8}$/);
      assert.match(gateway, /^dst_/);
      assert.deepEqual(shown, {
        at: '2026-11-14T10:11:14Z',
        kind: 'https',
        verdict: 'refused',
        edge_id: 'edghts_1',
        route_id: 'edghtsrt_1',
        client_ip: '203.0.113.9',
        host: 'shop.example.com',
        method: 'GET',
        path: '/0',
        protocol: '2',
        status: 403,
        code: 3205,
        module: 'ip_restriction',
        restrictions: ['ipx_1', 'ipx_2'],
        duration_ms: 1.5,
        bytes_in: 0,
        bytes_out: 120,
        configuration_version: 7,
      });
      assert.deepEqual(body.gateways, [
        { process_id: body.gateways[0].process_id, gateway, state: 'answered', dropped: 0 },
      ]);
      assert.deepEqual([body.other_gateways, body.was_cut_off, body.dropped, body.not_kept], [0, false, 0, undefined]);
    });

    test('come page by page, also those of one moment, with the filters of the first page', async () => {
      const atMs = Date.now();
      const { token, ask, paths } = await keep(
        ...Array.from({ length: 7 }, (_, at) => ({ at_ms: atMs, status: at === 3 ? 500 : 200 })),
      );
      const seen: string[] = [];
      for (let uri = '/decisions?limit=2&status=200'; ;) {
        const { body } = await g().get(uri, { token });
        seen.push(body.decisions.map(({ path }: { path: string }) => path).join(' '));
        if (body.next_page_uri === null) break;
        const next = new URL(body.next_page_uri);
        assert.deepEqual([...next.searchParams.keys()], ['before_id', 'limit', 'status']);
        uri = `${next.pathname}${next.search}`;
      }
      assert.deepEqual(seen, ['/6 /5', '/4 /2', '/1 /0']);
      assert.equal((await ask('?limit=7')).body.next_page_uri, null);
      assert.equal(await paths('?limit=1'), '/6');
    });

    test('pass each filter', async () => {
      const atMs = Date.parse('2026-11-14T10:11:14.900Z');
      const { paths } = await keep(
        { at_ms: atMs, edge_id: 'ep_1', source: '2001:db8::7', person: "o'brien@example.com" },
        {
          at_ms: atMs + 5_000,
          route_id: 'edghtsrt_9',
          verdict: 'warned',
          would_be_refused_by: 'rate_limit',
          backend_id: 'bkdstc_9',
        },
        { at_ms: atMs + 9_000, host: 'other.example.com', rule: 'ipx_1 ipx_2', request_id: 'op_1', status: 404 },
      );
      const expected: Record<string, string> = {
        'since=2026-11-14T10:11:15Z': '/2 /1',
        'until=2026-11-14T10:11:19Z': '/1 /0',
        'since=2026-11-14T10:11:14Z&until=2026-11-14T10:11:14Z': '/0',
        'edge_id=ep_1': '/0',
        'route_id=edghtsrt_9': '/1',
        'source=2001:db8::/32': '/0',
        'source=2001:db8::7': '/0',
        'source=203.0.113.9': '/2 /1',
        'source=203.0.113.0/24': '/2 /1',
        'backend_id=bkdstc_9': '/1',
        'verdict=warned': '/1',
        'module=rate_limit': '/1',
        'restriction_id=ipx_2': '/2',
        'person=o%27brien@example.com': '/0',
        'host=OTHER.example.com': '/2',
        'status=404': '/2',
        'request_id=op_1': '/2',
        'verdict=allowed&source=203.0.113.9': '/2',
      };
      for (const [query, found] of Object.entries(expected)) assert.equal(await paths(`?${query}`), found, query);
    });

    test('are not looked for by what would find nothing, and by hostile texts as they are', async () => {
      const { ask, paths } = await keep({});
      for (const query of [
        'since=yesterday',
        'until=2026-13-14T10:11:14Z',
        'source=10.0.0.0/33',
        'source=shop.example.com',
        'source=',
        'verdict=denied',
        'status=ok',
        'status=1e2',
        'before_id=dec_1',
        'before_id=dec_00000000000000abc',
        'before_id=dec_00000000000000001',
        'before_id=op_1',
        'edge_id[a][b]=1',
        'edge_id=a&edge_id=b',
        'person=%00',
        'limit=101',
      ])
        assert.equal((await ask(`?${query}`)).status, 400, query);
      const long = 'a'.repeat(4_000);
      for (const text of ["' OR true --", '$before', '"', '{"a":[[[]]]}', long])
        for (const name of [
          'edge_id',
          'route_id',
          'backend_id',
          'module',
          'restriction_id',
          'person',
          'host',
          'request_id',
        ])
          assert.equal(await paths(`?${name}=${encodeURIComponent(text)}`), '', name);
    });

    test('are counted by intervals, with what is of them alone, for the account of the key', async () => {
      const { token } = await keep(
        { duration_us: 1_000 },
        { status: 502 },
        { verdict: 'refused', status: 403, code: 3205, rule: 'ipx_1', edge_id: 'edghts_9' },
      );
      await keep({});
      const ask = async (query: string) => (await g().get(`/decisions/summary${query}`, { token })).body;
      const body = await ask('');
      assert.equal(body.step, 60);
      assert.ok(body.points.length > 0 && body.points.length <= 3, `${body.points.length} since it began`);
      const { refusals, p50_ms: p50, p95_ms: p95, ...total } = body.total;
      assert.deepEqual(total, {
        requests: 3,
        errors_4xx: 0,
        errors_5xx: 1,
        warned: 0,
        refused: 1,
        bytes_in: 0,
        bytes_out: 360,
      });
      assert.equal(refusals.rule, 1);
      assert.ok(Math.abs(p50 - 1) <= 0.05 && Math.abs(p95 - 1.5) <= 0.075);
      assert.equal(body.points.at(-1).usual, null);
      const [{ state, gateway, dropped }] = body.gateways;
      assert.deepEqual([body.gateways.length, state, dropped], [1, 'answered', 0]);
      assert.match(gateway, /^dst_/);
      const totalOf = async (query: string) => (await ask(query)).total.requests;
      assert.equal(await totalOf('?edge_id=edghts_9'), 1);
      assert.equal(await totalOf('?restriction_id=ipx_1&step=3600'), 1);
      assert.equal(await totalOf('?source=203.0.113.0/24'), 3);
      assert.equal(await totalOf('?status=502'), 1);
      assert.equal(await totalOf('?until=2026-01-01T00:00:00Z'), 0);
      const top = (await g().get('/decisions/top?by=edge', { token })).body;
      assert.deepEqual(top.entries, [{ key: 'edghts_9', requests: 1, refused: 1 }]);
      assert.equal((await g().get('/decisions/top?by=edge&order=requests', { token })).body.entries.length, 2);
    });

    test('are listed and counted by the policy that decides on edges, which an account sees of its own alone', async () => {
      const { id: policy } = await g().create('/ip_policies', {});
      const { id: edge } = await g().create('/edges/tcp', {
        hostports: [],
        ip_restriction: { ip_policy_ids: [policy] },
      });
      const { token } = await keep({});
      const { id: restriction } = await g().create('/ip_restrictions', {
        type: 'endpoints',
        enforced: false,
        ip_policy_ids: [policy],
      });
      const [row] = await g().app.context.store.queries.all('SELECT account_id FROM ip_policies');
      const own = String(row?.[0]);
      storeOf(g()).add(own, decision({ edge_id: edge, path: '/of-the-edge' }));
      storeOf(g()).add(own, decision({ rule: `ipx_1 ${restriction}`, verdict: 'warned', path: '/of-the-restriction' }));
      storeOf(g()).add(own, decision({ path: '/of-neither' }));
      const { body } = await g().get(`/decisions?policy_id=${policy}`);
      const paths = body.decisions.map(({ path }: { path: string }) => path);
      assert.deepEqual(paths, ['/of-the-restriction', '/of-the-edge']);
      assert.equal((await g().get(`/decisions/summary?policy_id=${policy}`)).body.total.requests, 2);
      for (const asked of ['', '/summary', '/top']) {
        const { status, body: fault } = await g().get(`/decisions${asked}?policy_id=${policy}`, { token });
        assert.equal(status, 400);
        assert.match(fault.msg, /policy_id ".*" selects nothing: this account has no such IP policy/);
        assert.equal((await g().get(`/decisions${asked}?policy_id=ipp_none`)).status, 400);
      }
    });

    test('are not counted by what selects nothing', async () => {
      for (const query of [
        'summary?step=61',
        'summary?step=0',
        'summary?step=1e3',
        'summary?step=60&since=2026-11-01T00:00:00Z',
        'summary?since=2999-01-01T00:00:00Z',
        'summary?since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z',
        'summary?since=1969-11-02T00:00:00Z',
        'summary?request_id=op_1',
        'top?by=secret',
        'top?order=most',
        'top?top=0',
        'top?top=101',
        'top?step=60',
      ])
        assert.equal((await g().get(`/decisions/${query}`)).status, 400, query);
    });

    test('cannot be read while their process is away, which traffic does not notice', async () => {
      const { ask } = await keep({});
      assert.equal((await ask('')).status, 200);
      const store = storeOf(g());
      const pid = store.keeperPid ?? assert.fail();
      process.kill(pid, 'SIGSTOP');
      const asked = ask('');
      process.kill(pid, 'SIGKILL');
      const { status, body, headers } = await asked;
      assert.equal(status, 503);
      assert.equal(headers.get('retry-after'), '5');
      assert.match(body.msg, /traffic goes on/);
      assert.doesNotMatch(body.msg, /SIGKILL/);
      store.add('ac_any', decision());
    });
  },
  { decisions: scratchFolder() },
);

onAnyGatehouse('decisions that are not kept', (g) => {
  test('are none, and the answer names the setting that keeps them', async () => {
    const { status, body } = await g().get('/decisions?verdict=refused');
    assert.equal(status, 200);
    const { uri, not_kept: why, gateways, ...rest } = body;
    assert.deepEqual([gateways.length, gateways[0].state], [1, 'keeps_none']);
    assert.match(uri, /\/decisions$/);
    assert.match(why, /No process that carries traffic keeps decisions about visitors\. .* GATEHOUSE_DECISIONS/);
    assert.deepEqual(rest, { decisions: [], next_page_uri: null, other_gateways: 1, was_cut_off: false, dropped: 0 });
    assert.equal((await g().get('/decisions?verdict=none')).status, 400);
    const summary = (await g().get('/decisions/summary')).body;
    assert.deepEqual([summary.points, summary.counted_from, summary.is_complete], [[], undefined, false]);
    assert.equal(summary.gateways[0].state, 'keeps_none');
  });
});
