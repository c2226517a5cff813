import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { LiveTraffic } from '../../../src/observe/live-traffic.ts';
import { createProcesses } from '../../../src/resources/processes/registry.ts';
import { Services } from '../../../src/resources/services.ts';
import { freePort } from '../../support/free-port.ts';
import { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { onAnyDatabase } from '../../support/each-database.ts';
import { EventReader } from '../../support/event-reader.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { checkData } from '../../support/openapi-check.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { someOf } from '../../support/sample.ts';
import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';

interface Health {
  readonly id: string;
  readonly state: string;
  readonly errors: number;
  readonly last_error?: { readonly at: string; readonly message: string };
}

onAnyDatabase('live traffic', (newDatabase) => {
  for (const workers of someOf(['1', '2'], 1, 'workers', 'live-traffic')) {
    describe(`with ${workers} gateway process(es)`, () => {
      let site: Site;
      before(async () => {
        site = await Site.start({ workers, httpsListen: `[::]:${await freePort()}` }, await newDatabase());
      });
      after(() => site[Symbol.asyncDispose]());
      const watch = (token = site.gatehouse.token) =>
        EventReader.open(`${site.gatehouse.url}/traffic/events`, { authorization: `Bearer ${token}` });

      test('shows each request with its decision, and neither query nor values of headers', async () => {
        const { gatehouse, routePath } = site;
        await gatehouse.put(`${routePath}/request_headers`, {
          add: { 'x-secret': 'hidden-value' },
          remove: ['cookie'],
        });
        const policy = await site.policy('127.0.0.0/8', '::/0');
        await gatehouse.put(`${routePath}/ip_restriction`, { ip_policy_ids: [policy] });
        await using reader = await watch();
        await site.askHttps({ path: '/a/page?token=hidden-query', from: '127.0.0.1' });
        const { event, data } = await reader.find(({ data: { path } }) => path === '/a/page', 'the request');
        checkData('TrafficEvent', data);
        assert.equal(event, 'request');
        const { id, at, duration_ms: duration, upstream_ms: upstreamMs, rule, protocol, ...facts } = data;
        assert.match(id, /^op_/);
        assert.ok(Math.abs(Date.parse(at) - Date.now()) < 120_000);
        assert.ok(duration >= upstreamMs && upstreamMs > 0, `${duration} ${upstreamMs}`);
        assert.ok(['1.1', '2'].includes(protocol));
        assert.deepEqual([rule.policy_id, rule.cidr, rule.action], [policy, '127.0.0.0/8', 'allow']);
        assert.deepEqual(facts, {
          kind: 'https',
          phase: 'closed',
          edge_id: site.edgeId,
          route_id: site.routeId,
          hostport: `${siteHost}:443`,
          client_ip: '127.0.0.1',
          method: 'GET',
          path: '/a/page',
          status: 200,
          verdict: 'allowed',
          upstream: site.backendId,
          headers_added: ['x-secret'],
          headers_removed: ['cookie'],
        });
        assert.ok(!reader.text.includes('hidden'), reader.text);
        for (const module of ['request_headers', 'ip_restriction']) await gatehouse.delete(`${routePath}/${module}`);
      });

      test('says who refused, who warned, and by which rule', async () => {
        const { gatehouse, routePath } = site;
        await using reader = await watch();
        const denying = await site.policy('127.0.0.0/8', '!127.0.0.7/32');
        await gatehouse.put(`${routePath}/ip_restriction`, { ip_policy_ids: [denying] });
        await site.askHttps({ path: '/by-module', from: '127.0.0.7' });
        const byModule = await reader.find(({ data: { path } }) => path === '/by-module', 'the refused request');
        assert.deepEqual(
          [byModule.data.verdict, byModule.data.status, byModule.data.rule.cidr, byModule.data.restrictions],
          ['refused', 403, '127.0.0.7/32', undefined],
        );
        assert.equal(typeof byModule.data.code, 'number');
        assert.equal(byModule.data.module, 'ip_restriction');
        assert.ok(byModule.data.reason.includes('127.0.0.7'), byModule.data.reason);
        await gatehouse.delete(`${routePath}/ip_restriction`);
        await gatehouse.put(`${routePath}/redirect`, { to: '/elsewhere' });
        await site.askHttps({ path: '/answered', from: '127.0.0.7' });
        const answered = await reader.find(({ data: { path } }) => path === '/answered', 'the redirected request');
        assert.deepEqual([answered.data.verdict, answered.data.module], ['allowed', 'redirect']);
        await gatehouse.delete(`${routePath}/redirect`);
        await gatehouse.put(`${routePath}/webhook_verification`, { provider: 'github', secret: 's' });
        const signature = `sha256=${createHmac('sha256', 's').update('{}').digest('hex')}`;
        const signed = { method: 'POST', body: '{}', headers: { 'x-hub-signature-256': signature } };
        await site.askHttps({ path: '/signed', from: '127.0.0.7', ...signed });
        const passed = await reader.find(({ data: { path } }) => path === '/signed', 'the request that has waited');
        assert.deepEqual([passed.data.status, passed.data.module], [200, undefined], 'nobody has spoken in the end');
        await gatehouse.delete(`${routePath}/webhook_verification`);
        await gatehouse.put(`/edges/tcp/${site.tcpEdgeId}/ip_restriction`, { ip_policy_ids: [denying] });
        await site.askTcp({ from: '127.0.0.7' }).catch(() => {});
        const closed = await reader.find(
          ({ data: { kind, verdict } }) => kind === 'tcp' && verdict === 'refused',
          'the refused connection',
        );
        assert.equal(closed.data.module, 'ip_restriction');
        await gatehouse.delete(`/edges/tcp/${site.tcpEdgeId}/ip_restriction`);

        const warning = await site.restrict(false, await site.policy('192.0.2.0/24'));
        await site.askHttps({ path: '/warned', from: '127.0.0.1' });
        const warned = await reader.find(({ data: { path } }) => path === '/warned', 'the warned request');
        assert.deepEqual(
          [warned.data.verdict, warned.data.status, warned.data.restrictions, warned.data.rule],
          ['warned', 200, [warning.id], undefined],
        );
        await gatehouse.patch(`/ip_restrictions/${warning.id}`, { enforced: true });
        await site.askHttps({ path: '/refused', from: '127.0.0.1' });
        const refused = await reader.find(({ data: { path } }) => path === '/refused', 'the refused request');
        assert.deepEqual([refused.data.verdict, refused.data.restrictions], ['refused', [warning.id]]);
        await site.askTcp({ from: '127.0.0.1' }).catch(() => {});
        const reset = await reader.find(
          ({ data: { kind, module } }) => kind === 'tcp' && module === undefined,
          'the connection that the restriction refused',
        );
        checkData('TrafficEvent', reset.data);
        assert.deepEqual(
          [reset.data.verdict, reset.data.phase, reset.data.restrictions, reset.data.client_ip],
          ['refused', 'closed', [warning.id], '127.0.0.1'],
        );
        await gatehouse.delete(`/ip_restrictions/${warning.id}`);
      });

      test('shows a connection when it opens and when it closes, under one id', async () => {
        await using reader = await watch();
        await site.askTcp({ from: '127.0.0.1' });
        const closed = await reader.find(
          ({ event, data }) => event === 'connection' && data.phase === 'closed',
          'the end of the connection',
        );
        checkData('TrafficEvent', closed.data);
        const { id, hostport, edge_id: edgeId, verdict, bytes_out: bytesOut, upstream } = closed.data;
        assert.deepEqual(
          [hostport, edgeId, verdict, upstream],
          [`:${site.tcpPort}`, site.tcpEdgeId, 'allowed', site.backendId],
        );
        assert.ok(bytesOut > 0);
        const opened = reader.events.find(({ data }) => data.id === id && data.phase === 'opened');
        assert.ok(opened, JSON.stringify(reader.events));
      });

      test('belongs to its account', async () => {
        const stranger = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
        await using other = await watch(stranger.token);
        await using own = await watch();
        await site.askHttps({ path: '/mine' });
        await own.find(({ data: { path } }) => path === '/mine', 'the request');
        const theirs = (await site.gatehouse.get('/traffic/history', { token: stranger.token })).body;
        assert.ok(theirs.buckets.every(({ requests }: { requests: number }) => requests === 0));
        assert.deepEqual([other.events, theirs.by_edge], [[], []]);
        assert.deepEqual((await site.gatehouse.get('/traffic/health', { token: stranger.token })).body.health, []);
      });

      test('tells how the edge, its route and its backend do, and the last error in words', async () => {
        const { gatehouse, edgeId, routeId, backendId, tcpEdgeId } = site;
        const read = async () => {
          const { body } = await gatehouse.get('/traffic/health');
          assert.deepEqual([body.gateways, body.is_complete], [1, true]);
          return new Map<string, Health>(body.health.map((each: Health) => [each.id, each]));
        };
        await site.askHttps({ path: '/well' });
        await until(async () => (await read()).get(routeId)?.state === 'answers', 'the route answers');
        const { address } = (await gatehouse.get(`/backends/static/${backendId}`)).body;
        await gatehouse.patch(`/backends/static/${backendId}`, { address: `127.0.0.1:${await freePort()}` });
        for (const path of ['/badly', '/badly/again?secret=1']) {
          assert.equal((await site.askHttps({ path })).status, 502);
        }
        await site.askTcp().catch(() => {});
        const failed = (health: Map<string, Health>) =>
          [edgeId, routeId, tcpEdgeId].map((id) => health.get(id)?.errors).join();
        await until(async () => failed(await read()) === '2,2,1', 'the errors are counted');
        const health = await read();
        for (const id of [edgeId, routeId, backendId]) assert.equal(health.get(id)?.state, 'answers_in_part', id);
        assert.equal(health.get(backendId)?.errors, 3);
        const { at, ...error } = health.get(routeId)?.last_error ?? {};
        assert.ok(Math.abs(Date.parse(at ?? '') - Date.now()) < 120_000);
        assert.deepEqual(error, {
          message: 'The upstream server refused the connection.',
          status: 502,
          code: 3006,
          method: 'GET',
          path: '/badly/again',
        });
        assert.match(health.get(tcpEdgeId)?.last_error?.message ?? '', /refused the connection/);
        await gatehouse.patch(`/backends/static/${backendId}`, { address });
      });

      test('is counted minute by minute for an hour, by edge too', async () => {
        const sum = (buckets: readonly Record<string, number>[], name: string) =>
          buckets.reduce((total, bucket) => total + (bucket[name] ?? 0), 0);
        const { body: earlier } = await site.gatehouse.get('/traffic/history');
        assert.equal(earlier.buckets.length, 60);
        assert.equal(earlier.carries_traffic, true);
        for (let count = 0; count < 3; count++) await site.askHttps({ path: '/counted' });
        await site.askHttps({ path: '/%2e%2e/invalid' });
        await site.askTcp();
        const counted = async () => {
          const { buckets } = (await site.gatehouse.get('/traffic/history')).body;
          return [
            sum(buckets, 'requests') - sum(earlier.buckets, 'requests'),
            sum(buckets, 'connections') - sum(earlier.buckets, 'connections'),
          ].join();
        };
        await until(async () => (await counted()) === '4,1', 'they are counted');
        const { buckets, by_edge: byEdge } = (await site.gatehouse.get('/traffic/history')).body;
        const busy = buckets.findLast(({ requests }: { requests: number }) => requests > 0);
        assert.ok(busy.p50_ms > 0 && busy.p99_ms >= busy.p50_ms, JSON.stringify(busy));
        const starts = buckets.map(({ start }: { start: string }) => Date.parse(start));
        assert.ok(starts.every((start: number, at: number) => at === 0 || start - starts[at - 1] === 60_000));
        const ids = new Set(byEdge.map(({ edge_id: edgeId }: { edge_id: string }) => edgeId));
        assert.ok(ids.has(site.edgeId) && ids.has(site.tcpEdgeId), JSON.stringify(byEdge));
        const { body: own } = await site.gatehouse.get(`/traffic/history?edge_id=${site.tcpEdgeId}`);
        const { connections } = byEdge.find(({ edge_id: id }: { edge_id: string }) => id === site.tcpEdgeId);
        assert.deepEqual([sum(own.buckets, 'connections'), sum(own.buckets, 'requests')], [connections, 0]);
        assert.ok(own.buckets.every(({ p99_ms: p99 }: { p99_ms: number | null }) => p99 === null));
      });

      test('says what would have refused if it were enforced, which counts as a warning', async () => {
        const { gatehouse, routePath } = site;
        await using reader = await watch();
        const seen = async (name: string, status = 200) => {
          const path = `/not-enforced/${name}`;
          await site.askHttps({ path, from: '127.0.0.7' });
          const { data } = await reader.find((event) => event.data.path === path, name);
          assert.equal(data.status, status, name);
          return [data.verdict, data.would_be_refused_by, data.module];
        };
        const counted = async () => {
          const { buckets } = (await gatehouse.get(`/traffic/history?edge_id=${site.tcpEdgeId}`)).body;
          return buckets.reduce((total: number, { warned }: { warned: number }) => total + warned, 0);
        };
        const earlier = await counted();
        const policy = (type: string, config: object, phase = 'on_http_request') => ({
          value: JSON.stringify({ [phase]: [{ actions: [{ type, config: { ...config, enforce: false } }] }] }),
        });
        const buckets = { name: 'all', algorithm: 'sliding_window', capacity: 1, rate: '60s', bucket_key: ["'one'"] };
        for (const [type, config] of [
          ['restrict-ips', { allow: ['192.0.2.0/24'] }],
          ['basic-auth', { credentials: ['ada:a-long-password'] }],
          ['verify-webhook', { provider: 'github', secret: 'one' }],
        ] as const) {
          await gatehouse.put(`${routePath}/traffic_policy`, policy(type, config));
          assert.deepEqual(await seen(type), ['warned', type, undefined]);
        }
        await gatehouse.put(`${routePath}/traffic_policy`, policy('restrict-ips', { allow: ['127.0.0.0/8'] }));
        assert.deepEqual(await seen('passes'), ['allowed', undefined, undefined]);
        await gatehouse.put(`${routePath}/traffic_policy`, policy('rate-limit', buckets));
        // With two workers the other one may not have heard of the first request yet.
        const answers = [];
        for (let at = 0; at < 8; at++) answers.push(await seen(`rate-limit-${at}`));
        assert.deepEqual(answers[0], ['allowed', undefined, undefined]);
        assert.deepEqual(answers[7], ['warned', 'rate-limit', undefined]);
        await gatehouse.delete(`${routePath}/traffic_policy`);
        const limit = { limit: 1, window_seconds: 3_600, enforced: false };
        assert.equal((await gatehouse.put(`${routePath}/rate_limit`, limit)).status, 200);
        for (let at = 0; at < 8; at++) answers.push(await seen(`module-${at}`));
        assert.deepEqual(answers.at(-1), ['warned', 'rate_limit', undefined]);
        await gatehouse.delete(`${routePath}/rate_limit`);
        const closed = await gatehouse.create('/backends/static', { address: `127.0.0.1:${await freePort()}` });
        await gatehouse.put(`${routePath}/backend`, { backend_id: closed.id });
        const breaker = { error_threshold: 0.1, volume_threshold: 1, tripped_duration: '120s' };
        await gatehouse.put(`${routePath}/traffic_policy`, policy('circuit-breaker', breaker));
        for (let at = 0; at < 8; at++) answers.push(await seen(`breaker-${at}`, 502));
        assert.deepEqual(answers.at(-1), ['warned', 'circuit-breaker', undefined]);
        await gatehouse.delete(`${routePath}/traffic_policy`);
        await gatehouse.put(`${routePath}/backend`, { backend_id: site.backendId });
        const onTcp = policy('restrict-ips', { allow: ['192.0.2.0/24'] }, 'on_tcp_connect');
        assert.equal((await gatehouse.put(`/edges/tcp/${site.tcpEdgeId}/traffic_policy`, onTcp)).status, 200);
        await site.askTcp({ from: '127.0.0.7' });
        const warned = await reader.find(
          ({ data: { kind, phase } }) => kind === 'tcp' && phase === 'opened',
          'it opens',
        );
        const ended = await reader.find(
          ({ data: { id, phase } }) => id === warned.data.id && phase === 'closed',
          'it closes',
        );
        for (const { data } of [warned, ended]) {
          checkData('TrafficEvent', data);
          assert.deepEqual([data.verdict, data.would_be_refused_by], ['warned', 'restrict-ips'], data.phase);
        }
        await gatehouse.delete(`/edges/tcp/${site.tcpEdgeId}/traffic_policy`);
        assert.equal((await counted()) - earlier, 1);
        const metrics = await site.metrics();
        for (const by of ['basic-auth', 'verify-webhook', 'rate_limit', 'circuit-breaker'])
          assert.match(metrics, new RegExp(`gatehouse_not_enforced_total\\{by="${by}"`));
      });
    });
  }

  test('is bounded: an account has so many streams, and one that ends makes room', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { trafficStreams: '1' });
    const watch = () =>
      EventReader.open(`${gatehouse.url}/traffic/events`, { authorization: `Bearer ${gatehouse.token}` });
    const reader = await watch();
    const { status, body } = await gatehouse.get('/traffic/events');
    assert.deepEqual([status, body.error_code], [429, 'ERR_GATEHOUSE_20178']);
    assert.ok(body.msg.includes('GATEHOUSE_TRAFFIC_STREAMS'), body.msg);
    await reader[Symbol.asyncDispose]();
    await until(async () => (await gatehouse.get('/traffic/events')).status === 200, 'there is room again');
  });

  test('ends at once with the key or session that watches, and with the server', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const url = `${gatehouse.url}/traffic/events`;
    const key = await gatehouse.create('/api_keys');
    const byKey = await EventReader.open(url, { authorization: `Bearer ${key.token}` });
    const browser = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    const bySession = await EventReader.open(url, {
      cookie: browser.cookie ?? '',
      'gatehouse-dashboard': browser.secret,
    });
    await gatehouse.delete(`/api_keys/${key.id}`);
    await until(() => byKey.isOver, 'the stream of the key ends');
    assert.deepEqual(byKey.events.at(-1), { event: 'end', data: { status_code: 401 } });
    assert.equal(bySession.isOver, false);
    await browser.delete('/dashboard/session');
    await until(() => bySession.isOver, 'the stream of the session ends');
    const last = await EventReader.open(url, { authorization: `Bearer ${gatehouse.token}` });
    await gatehouse.app.api?.close();
    await until(() => last.isOver, 'the server ends its streams when it stops');
  });

  test('does not keep a session alive that does nothing else', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { dashboardIdleSeconds: '2' });
    const browser = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    await using reader = await EventReader.open(`${gatehouse.url}/traffic/events`, {
      cookie: browser.cookie ?? '',
      'gatehouse-dashboard': browser.secret,
    });
    await until(() => reader.isOver, 'the session is over');
    assert.deepEqual(reader.events.at(-1), { event: 'end', data: { status_code: 401 } });
  });

  test('of other processes is counted in how edges do', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const { store } = gatehouse.app.context;
    const browser = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    const accountId = (await browser.get('/dashboard/session')).body.account_id;
    const observer = { trafficStreams: () => {}, trafficStreamRefused: () => {}, trafficEventsDropped: () => {} };
    const live = new LiveTraffic({ isCarriedHere: true, limit: 1, observer });
    live.tcpOpened(
      { edgeId: 'edge', source: '192.0.2.1', verdict: 'allowed' },
      { connectionId: 'c', accountId, claim: 1 },
    );
    await using registration = await createProcesses(store, new Services(), { beatMs: 100, followMs: 0 }).register({
      listeners: [],
      role: 'gateway',
    });
    registration.reportWith(() => ({ configurationVersion: 1, unopenedPorts: [], health: live.reportHealth() }));
    await until(async () => (await gatehouse.get('/traffic/health')).body.gateways === 1, 'it reports');
    const [edge] = (await gatehouse.get('/traffic/health')).body.health;
    assert.deepEqual([edge.id, edge.state, edge.requests], ['edge', 'answers', 1]);
  });

  test('is that of this process: one that carries none says so', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const { body } = await gatehouse.get('/traffic/history');
    assert.equal(body.carries_traffic, false);
    assert.equal((await gatehouse.get('/traffic/health')).body.gateways, 0);
    assert.equal(
      (
        await fetch(`${gatehouse.url}/traffic/events`, {
          method: 'HEAD',
          headers: { authorization: `Bearer ${gatehouse.token}`, 'service-version': '2' },
        })
      ).status,
      200,
    );
  });
});
