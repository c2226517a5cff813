import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { Agent } from 'node:https';
import { after, before, suite, test } from 'node:test';

import { ClientAuthority } from '../../support/client-certificates.ts';
import type { ClientPair } from '../../support/client-certificates.ts';
import { newSqlite } from '../../support/scratch.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { Site, siteHost } from './support/site.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

/** So long that no test sees anything slide. */
const window_seconds = 86_400;

suite('rate limits', () => {
  let site: Site;
  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
  });
  after(() => site[Symbol.asyncDispose]());

  const put = async (path: string, body: object) => {
    const { status, body: answer } = await site.gatehouse.put(`${path}/rate_limit`, body);
    assert.equal(status, 200, JSON.stringify(answer));
    return answer;
  };
  const remove = async (path: string) => {
    assert.equal((await site.gatehouse.delete(`${path}/rate_limit`)).status, 204);
  };
  const statuses = async (times: number, asking: Parameters<Site['askHttps']>[0] = {}) => {
    const seen: number[] = [];
    for (let round = 0; round < times; round++) seen.push((await site.askHttps(asking)).status);
    return seen;
  };
  const limited = async (answer: string) =>
    readExposition(await site.metrics()).samples.get(`gatehouse_rate_limited_total{answer="${answer}"}`) ?? 0;

  test('each source has so many requests, then 429 with the time to wait, also after a change of something else', async () => {
    const shown = await put(site.routePath, { limit: 3, window_seconds });
    assert.deepEqual(shown, { enabled: true, limit: 3, window_seconds, by: 'source', header: null, enforced: true });
    assert.deepEqual(await statuses(4), [200, 200, 200, 429]);
    const arrived = site.upstream.requests;
    await site.gatehouse.put(`${site.routePath}/compression`, {});
    const refused = await site.askHttps();
    assert.equal(refused.status, 429);
    assert.match(refused.text, /3 are allowed within 86400 seconds/);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal(site.upstream.requests, arrived);
    assert.deepEqual(await statuses(4, { from: '127.0.0.2' }), [200, 200, 200, 429]);
    const { further_checks } = (await site.gatehouse.post('/ip_check', { ip: '127.0.0.1', route_id: site.routeId }))
      .body;
    assert.deepEqual(further_checks, [{ module: 'rate_limit', by: 'how often the visitor asks', asks: null }]);
    await until(async () => (await limited('refused')) === 3, 'metrics count them');
    await remove(site.routePath);
    assert.deepEqual(await statuses(1), [200]);
  });

  test('by a header each value has its own count, and all without it have one', async () => {
    await put(site.routePath, { limit: 2, window_seconds, by: 'header', header: 'X-Api-Key' });
    for (const key of ['a', 'b', 'c'.repeat(300)])
      assert.deepEqual(await statuses(3, { headers: { 'x-api-key': key } }), [200, 200, 429]);
    assert.deepEqual(await statuses(3), [200, 200, 429]);
    assert.deepEqual(await statuses(1, { from: '127.0.0.2' }), [429]);
    await remove(site.routePath);
  });

  test('by a header, a second one beside it does not make another count, in whatever spelling', async () => {
    await put(site.routePath, { limit: 2, window_seconds, by: 'header', header: 'X-Key' });
    assert.deepEqual(await statuses(2, { headers: { 'x-key': ['other-1', 'own'] } }), [200, 200]);
    for (const headers of [{ 'x-key': ['other-2', 'own'] }, { 'x-key': 'other-3', x_key: 'own' }, { x_key: 'own' }, {}])
      assert.deepEqual(await statuses(1, { headers }), [429], JSON.stringify(headers));
    assert.deepEqual(await statuses(1, { headers: { 'x-key': 'own' } }), [200]);
    await remove(site.routePath);
  });

  test('by certificate each certificate has its own count, from any address and over any protocol', async () => {
    const edgePath = `/edges/https/${site.edgeId}`;
    const authority = new ClientAuthority('staff');
    const ca = await site.gatehouse.create('/certificate_authorities', { ca_pem: authority.pem });
    await put(site.routePath, { limit: 4, window_seconds, by: 'certificate' });
    await statuses(1);
    const module = { certificate_authority_ids: [ca.id] };
    assert.equal((await site.gatehouse.put(`${edgePath}/mutual_tls`, module)).status, 200);
    // The two have the same name, and are told apart by what they are.
    const [ada, other] = [authority.sign('ada'), authority.sign('ada')];
    const visit = (pair: ClientPair, from?: string) =>
      site.askHttps({ agent: new Agent(pair), ...(from && { from }) }).then(({ status }) => status);
    assert.deepEqual([await visit(ada), await visit(ada, '127.0.0.2')], [200, 200]);
    assert.deepEqual(await askHttp2(site.httpsPort, ada, 3), [200, 200, 429]);
    assert.deepEqual([await visit(ada), await visit(ada, '127.0.0.2')], [429, 429]);
    assert.deepEqual(await askHttp2(site.httpsPort, other, 5), [200, 200, 200, 200, 429]);
    assert.equal(await visit(other), 429);
    // Without one the source is counted, which has asked once.
    assert.equal((await site.gatehouse.delete(`${edgePath}/mutual_tls`)).status, 204);
    assert.deepEqual(await statuses(4), [200, 200, 200, 429]);
    assert.equal(await visit(ada), 429, 'one that nobody asks for counts for nothing');
    await remove(site.routePath);
  });

  test('one that is not enforced refuses nobody, and metrics tell whom it would', async () => {
    const counted = await limited('warned');
    await put(site.routePath, { limit: 1, window_seconds: 7200, enforced: false });
    assert.deepEqual(await statuses(4), [200, 200, 200, 200]);
    await until(async () => (await limited('warned')) === counted + 3, 'metrics count them');
    await remove(site.routePath);
  });

  test('an edge counts all its routes together, beside what each route counts', async () => {
    const edgePath = `/edges/https/${site.edgeId}`;
    const other = await site.gatehouse.create(`${edgePath}/routes`, {
      match_type: 'path_prefix',
      match: '/other',
      backend: { backend_id: site.backendId },
      rate_limit: { limit: 1, window_seconds },
    });
    await put(edgePath, { limit: 4, window_seconds });
    assert.deepEqual(await statuses(2, { path: '/other' }), [200, 429]);
    assert.deepEqual(await statuses(4), [200, 200, 200, 429]);
    assert.equal((await site.gatehouse.get(edgePath)).body.rate_limit.limit, 4);
    await remove(edgePath);
    assert.equal((await site.gatehouse.delete(`${edgePath}/routes/${other.id}`)).status, 204);
  });

  test('a TCP edge resets connections beyond it, which it counts by source alone', async () => {
    const tcpPath = `/edges/tcp/${site.tcpEdgeId}`;
    await put(tcpPath, { limit: 2, window_seconds });
    for (let round = 0; round < 2; round++) assert.equal((await site.askTcp()).status, 200);
    await assert.rejects(site.askTcp());
    assert.equal((await site.askTcp({ from: '127.0.0.3' })).status, 200);
    const byHeader = { limit: 2, window_seconds, by: 'header', header: 'x' };
    for (const refused of [
      await site.gatehouse.put(`${tcpPath}/rate_limit`, byHeader),
      await site.gatehouse.patch(tcpPath, { rate_limit: byHeader }),
      await site.gatehouse.put(`${tcpPath}/rate_limit`, { limit: 2, window_seconds, by: 'certificate' }),
      await site.gatehouse.put(`${site.routePath}/rate_limit`, { limit: 2, window_seconds, by: 'header' }),
    ])
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
    await remove(tcpPath);
    assert.equal((await site.askTcp()).status, 200);
  });
});

/** Sends requests over one connection of HTTP/2, one after another; returns their statuses. */
async function askHttp2(port: number, pair: ClientPair, times: number): Promise<readonly number[]> {
  const session = connect(`https://127.0.0.1:${port}`, { ...pair, servername: siteHost, rejectUnauthorized: false });
  const seen: number[] = [];
  for (let round = 0; round < times; round++) {
    const stream = session.request({ ':path': '/', ':authority': siteHost }).resume();
    const [headers] = await once(stream, 'response');
    seen.push(Number(headers[':status']));
    await once(stream, 'close');
  }
  session.close();
  return seen;
}

test('workers count together: the limit is passed by what they let in before they have told each other', async () => {
  await using upstream = await startUpstream();
  await using program = await Program.start(newSqlite(), { workers: '2', 'drain-seconds': '0' });
  const { routePath } = await createAppEdge(program, upstream.port);
  const limit = 20;
  await program.must('PUT', `${routePath}/rate_limit`, { limit, window_seconds });
  const ask = () => askHttps(program.httpsPort, appHost);
  const askAll = () => Promise.all(Array.from({ length: 24 }, ask));
  let passed = 0;
  await until(async () => {
    const answers = await askAll();
    passed += answers.filter(({ status }) => status === 200).length;
    return answers.every(({ status }) => status === 429);
  }, 'both refuse');
  assert.ok(passed >= limit && passed <= 2 * limit, `${passed} have passed`);
  for (const { status } of await askAll()) assert.equal(status, 429);
});
