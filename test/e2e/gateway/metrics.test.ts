import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { readExposition } from './support/prometheus.ts';
import type { Exposition } from './support/prometheus.ts';
import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';

suite('metrics', () => {
  let site: Site;
  before(async () => {
    // Workers tell what they have counted some time later.
    site = await Site.start({ drainSeconds: '0', workers: 'off' });
  });
  after(() => site[Symbol.asyncDispose]());

  const read = async (): Promise<Exposition> => readExposition(await site.metrics());
  const valueOf = async (key: string): Promise<number | undefined> => (await read()).samples.get(key);

  test('are valid, and bounded: no label names clients, hosts or paths', async () => {
    await site.askHttps({ path: '/a/secret?token=1' });
    await site.askTcp();
    await until(
      async () => (await valueOf('gatehouse_bound_limit{bound="stream_resets"}')) === 100,
      'bounds are shown',
    );
    const { types, samples } = await read();
    const labels = [...samples.keys()].flatMap((key) =>
      key.startsWith('gatehouse_') ? [...key.matchAll(/(\w+)="/g)].map(([, name = '']) => name) : [],
    );
    // Those of the process itself have the names that Prometheus gives them.
    const own = [...types].filter(([name]) => name.startsWith('gatehouse_'));
    assert.ok(types.has('process_resident_memory_bytes') && types.has('process_cpu_seconds_total'));
    assert.deepEqual(Object.fromEntries(own), {
      gatehouse_http_requests_total: 'counter',
      gatehouse_https_open_connections: 'gauge',
      gatehouse_upstream_seconds: 'histogram',
      gatehouse_tcp_connections_total: 'counter',
      gatehouse_tcp_open_connections: 'gauge',
      gatehouse_tcp_bytes_total: 'counter',
      gatehouse_warnings_total: 'counter',
      gatehouse_bound_limit: 'gauge',
      gatehouse_bound_in_use: 'gauge',
      gatehouse_bound_refusals_total: 'counter',
      gatehouse_history_changes_total: 'counter',
      gatehouse_worker_busy_ratio: 'gauge',
      gatehouse_worker_client_connections: 'gauge',
      gatehouse_worker_memory_bytes: 'gauge',
      gatehouse_workers_lost_total: 'counter',
      gatehouse_lost_changes_total: 'counter',
      gatehouse_not_enforced_total: 'counter',
      gatehouse_faulty_listeners: 'gauge',
      gatehouse_faulty_entries: 'gauge',
      gatehouse_storage_full: 'gauge',
      gatehouse_snapshot_version: 'gauge',
      gatehouse_snapshot_timestamp_seconds: 'gauge',
      gatehouse_publish_seconds: 'histogram',
      gatehouse_publish_faults_total: 'counter',
      gatehouse_inward_refusals_total: 'counter',
      gatehouse_event_loop_delay_seconds: 'histogram',
      gatehouse_failed_authentications_total: 'counter',
      gatehouse_wrong_passwords_total: 'counter',
      gatehouse_rate_limited_total: 'counter',
      gatehouse_rate_counts_total: 'counter',
      gatehouse_rate_peers_unreachable: 'gauge',
      gatehouse_backend_flips_total: 'counter',
      gatehouse_backend_addresses: 'gauge',
      gatehouse_backend_address_down: 'gauge',
      gatehouse_api_requests_total: 'counter',
      gatehouse_api_request_seconds: 'histogram',
      gatehouse_certificate_ends_soon: 'gauge',
      gatehouse_certificate_not_after_seconds: 'gauge',
      gatehouse_certificate_orders_total: 'counter',
      gatehouse_quota_used_ratio: 'gauge',
      gatehouse_tls_handshakes_failed_total: 'counter',
      gatehouse_api_calls_refused_total: 'counter',
      gatehouse_api_calls_waiting: 'gauge',
      gatehouse_agent_refusals_total: 'counter',
      gatehouse_links_opened: 'gauge',
      gatehouse_links_accepted: 'gauge',
      gatehouse_link_streams: 'gauge',
      gatehouse_link_faults_total: 'counter',
      gatehouse_link_refusals_total: 'counter',
      gatehouse_dashboard_sign_ins_total: 'counter',
      gatehouse_traffic_streams: 'gauge',
      gatehouse_traffic_streams_refused_total: 'counter',
      gatehouse_traffic_events_dropped_total: 'counter',
      gatehouse_dashboard_sessions_replaced_total: 'counter',
      gatehouse_decisions_kept_total: 'counter',
      gatehouse_decisions_dropped_total: 'counter',
      gatehouse_decisions_archive_lost: 'gauge',
      gatehouse_decisions_archive_set_aside: 'gauge',
      gatehouse_decisions_archive_waiting: 'gauge',
      gatehouse_decisions_bytes: 'gauge',
    });
    assert.deepEqual([...new Set(labels)].toSorted(), [
      'bound',
      'direction',
      'edge',
      'le',
      'operation',
      'state',
      'status',
      'verdict',
    ]);
  });

  test('count requests by edge, status and verdict, and how long upstreams took', async () => {
    const policy = await site.policy('127.0.0.1/32');
    await site.gatehouse.put(`${site.routePath}/ip_restriction`, { ip_policy_ids: [policy] });
    const keyOf = (status: number, verdict: string) =>
      `gatehouse_http_requests_total{edge="${site.edgeId}",status="${status}",verdict="${verdict}"}`;
    const [allowed, upstream] = [
      await valueOf(keyOf(200, 'allowed')),
      await valueOf('gatehouse_upstream_seconds_count'),
    ];
    await site.askHttps({ from: '127.0.0.1' });
    await site.askHttps({ from: '127.0.0.2' });
    await until(async () => (await valueOf(keyOf(403, 'refused'))) === 1, 'the refused request is counted');
    await until(async () => (await valueOf(keyOf(200, 'allowed'))) === (allowed ?? 0) + 1, 'the other one is');
    assert.equal(await valueOf('gatehouse_upstream_seconds_count'), (upstream ?? 0) + 1);
    await site.gatehouse.delete(`${site.routePath}/ip_restriction`);
  });

  test('count API calls by operation and status, and how long they took', async () => {
    const keyOf = (operation: string, status: number) =>
      `gatehouse_api_requests_total{operation="${operation}",status="${status}"}`;
    const duration = 'gatehouse_api_request_seconds_count{operation="IpPoliciesGet"}';
    const earlier = await read();
    const { id } = await site.gatehouse.create('/ip_policies', {});
    await site.gatehouse.get(`/ip_policies/${id}`);
    await site.gatehouse.get('/ip_policies/ipp_none');
    await site.gatehouse.get('/nothing/here');
    const grown = async (key: string) => ((await valueOf(key)) ?? 0) - (earlier.samples.get(key) ?? 0);
    await until(async () => (await grown(keyOf('other', 404))) === 1, 'the last call is counted');
    assert.equal(await grown(keyOf('IpPoliciesCreate', 201)), 1);
    assert.equal(await grown(keyOf('IpPoliciesGet', 200)), 1);
    assert.equal(await grown(keyOf('IpPoliciesGet', 404)), 1);
    assert.equal(await grown(duration), 2);
  });

  test('count connections by edge and verdict, their bytes, and those that are open now', async () => {
    const open = connect(site.tcpPort, '127.0.0.1');
    const openTls = connectTls({ port: site.httpsPort, servername: siteHost, rejectUnauthorized: false });
    await until(async () => (await valueOf('gatehouse_tcp_open_connections')) === 1, 'one is open');
    await until(async () => (await valueOf('gatehouse_https_open_connections')) === 1, 'one HTTPS connection is open');
    open.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').resume();
    openTls.destroy();
    await until(async () => (await valueOf('gatehouse_tcp_open_connections')) === 0, 'none is open');
    await until(async () => (await valueOf('gatehouse_https_open_connections')) === 0, 'no HTTPS connection is open');
    const { samples } = await read();
    assert.ok((samples.get(`gatehouse_tcp_bytes_total{edge="${site.tcpEdgeId}",direction="in"}`) ?? 0) > 40);
    assert.ok((samples.get(`gatehouse_tcp_bytes_total{edge="${site.tcpEdgeId}",direction="out"}`) ?? 0) > 100);

    const policy = await site.policy('10.0.0.0/8');
    await site.gatehouse.put(`/edges/tcp/${site.tcpEdgeId}/ip_restriction`, { ip_policy_ids: [policy] });
    await assert.rejects(site.askTcp(), { code: 'ECONNRESET' });
    const refused = `gatehouse_tcp_connections_total{edge="${site.tcpEdgeId}",verdict="refused_by_module"}`;
    assert.equal(await valueOf(refused), 1);
    assert.equal(await valueOf('gatehouse_tcp_open_connections'), 0);
  });

  test('contain the version in force, since when, and how long changes took', async () => {
    const earlier = await read();
    await site.policy('10.0.0.0/8');
    const { samples } = await read();
    const grown = (key: string) => (samples.get(key) ?? 0) - (earlier.samples.get(key) ?? 0);
    assert.equal(grown('gatehouse_snapshot_version'), 2, 'a policy and its rules');
    assert.equal(grown('gatehouse_publish_seconds_count'), 2);
    const ageSeconds = Date.now() / 1000 - (samples.get('gatehouse_snapshot_timestamp_seconds') ?? 0);
    assert.ok(ageSeconds >= 0 && ageSeconds < 60, `put in force ${ageSeconds} s ago`);
    assert.equal(samples.get('gatehouse_publish_faults_total'), 0);
  });

  test('are all that is served at their address', async () => {
    const base = `http://127.0.0.1:${site.gatehouse.app.metricsPort}`;
    assert.equal((await fetch(`${base}/`)).status, 404);
    assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 404);
    assert.match((await fetch(`${base}/metrics`)).headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  });
});

suite('the access log', () => {
  const secrets = { authorization: 'Bearer hidden-1', cookie: 'session=hidden-2', 'x-api-key': 'hidden-3' };

  test('has one JSON line for each request and connection, refused ones too, and nothing that clients keep secret', async () => {
    await using site = await Site.start({ drainSeconds: '0', accessLog: '1' });
    const policy = await site.policy('127.0.0.1/32');
    await site.restrict(true, policy);
    const asked = { path: '/a/b?token=hidden-4#', headers: secrets };
    await site.askHttps({ ...asked, path: '/a/b?token=hidden-4', from: '127.0.0.1' });
    await site.askHttps({ ...asked, path: '/a?token=hidden-5', from: '127.0.0.2' });
    await site.askTcp({ from: '127.0.0.1', headers: secrets });
    await assert.rejects(site.askTcp({ from: '127.0.0.2' }));
    await until(() => site.logged('tcp connection').length === 2, 'both connections are logged');
    await until(() => site.logged('http request').length === 2, 'both requests are logged');

    const [passed, refused] = site.logged('http request');
    const { operation_id, duration_ms, upstream_ms, time: _time, pid: _pid, hostname: _hostname, ...rest } = passed;
    assert.match(operation_id, /^op_\w{27}$/);
    assert.ok(duration_ms >= upstream_ms && upstream_ms > 0);
    assert.equal(duration_ms, Number(duration_ms.toFixed(3)));
    assert.deepEqual(rest, {
      level: 30,
      edge_id: site.edgeId,
      route_id: site.routeId,
      source: '127.0.0.1',
      protocol: '1.1',
      method: 'GET',
      host: siteHost,
      path: '/a/b',
      status: 200,
      msg: 'http request',
    });
    assert.deepEqual(
      [refused.source, refused.status, refused.error_code, refused.path],
      ['127.0.0.2', 403, 3205, '/a'],
    );
    const connections = site
      .logged('tcp connection')
      .map(({ source, verdict, edge_id }) => [source, { verdict, edge_id }]);
    assert.deepEqual(Object.fromEntries(connections), {
      '127.0.0.1': { verdict: 'allowed', edge_id: site.tcpEdgeId },
      '127.0.0.2': { verdict: 'refused_by_restriction', edge_id: site.tcpEdgeId },
    });
    assert.doesNotMatch(site.gatehouse.logLines.join(''), /hidden|\?/);
  });

  test('is empty with a share of 0', async () => {
    await using site = await Site.start({ drainSeconds: '0', accessLog: '0' });
    await site.askHttps();
    await site.askTcp();
    await site.gatehouse[Symbol.asyncDispose]();
    assert.deepEqual([...site.logged('http request'), ...site.logged('tcp connection')], []);
  });
});
