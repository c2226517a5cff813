import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { newSqlite } from '../../support/scratch.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import type { AppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const policyOf = (url: string) =>
  JSON.stringify({
    on_http_request: [
      {
        actions: [
          { type: 'http-request', config: { url, timeout: '30s' } },
          {
            type: 'custom-response',
            config: {
              body: '${has(actions.ngrok.http_request.error) ? "no answer" : string(actions.ngrok.http_request.res.status_code)}',
            },
          },
        ],
      },
    ],
  });

for (const workers of ['off', '2'])
  test(`rules ask servers that the operator has named, and never this installation (workers: ${workers})`, async () => {
    await using upstream = await startUpstream();
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const [api, https, metrics] = ports;
    const named = [upstream.port, api, https, metrics].map((port) => `localhost:${port}`).join();
    await using program = await Program.start(
      newSqlite(),
      { workers, 'policy-request-hosts': named, 'drain-seconds': '0' },
      { ports },
    );
    const { routePath } = await createAppEdge(program, upstream.port);
    const answersOf = async (url: string) => {
      await program.must('PUT', `${routePath}/traffic_policy`, { value: policyOf(url) });
      const asked = Array.from({ length: 12 }, () => askHttps(program.httpsPort, appHost));
      return [...new Set((await Promise.all(asked)).map(({ text }) => text))].join();
    };
    assert.equal(await answersOf(`http://localhost:${upstream.port}/`), '200');
    for (const port of [api, metrics])
      assert.equal(await answersOf(`http://localhost:${port}/livez`), 'no answer', `${port}`);
    assert.equal(await answersOf(`https://localhost:${https}/`), 'no answer');
    const refused = await program.call('PUT', `${routePath}/traffic_policy`, {
      value: policyOf('https://other.test/'),
    });
    assert.match(refused.body.msg, /GATEHOUSE_POLICY_REQUEST_HOSTS/);
  });

test('a server that is no longer named is not asked, and what asks it can be changed, exported and deleted', async () => {
  await using upstream = await startUpstream();
  const database = newSqlite();
  const url = `http://localhost:${upstream.port}/`;
  const value = policyOf(url);
  const filled = policyOf('${getQueryParam("u")[0]}');
  let made: AppEdge;
  let [endpoint, former] = ['', ''];
  {
    const settings = { 'policy-request-hosts': `localhost:${upstream.port}`, 'drain-seconds': '0' };
    await using program = await Program.start(database, settings);
    made = await createAppEdge(program, upstream.port);
    await program.must('PUT', `${made.routePath}/traffic_policy`, { value });
    const other = `/edges/https/${made.edgeId}/routes`;
    const rules = { inbound: JSON.parse(value).on_http_request };
    const route = {
      match_type: 'path_prefix',
      match: '/former',
      backend: { backend_id: made.backendId },
      policy: rules,
    };
    former = `${other}/${(await program.must('POST', other, route)).id}`;
    const given = { url: 'https://asks.internal', traffic_policy: value };
    endpoint = `/endpoints/${(await program.must('POST', '/endpoints', given)).id}`;
    for (const path of ['/', '/former'])
      assert.equal((await askHttps(program.httpsPort, appHost, { path })).text, '200');
  }
  await using program = await Program.start(database, { 'drain-seconds': '0' });
  const { edgeId, routePath } = made;
  const answer = async (path = '/') => {
    const { status, errorCode } = await askHttps(program.httpsPort, appHost, { path });
    return `${status} ${errorCode ?? ''}`;
  };
  assert.equal((await program.call('GET', '/readyz')).body.faulty_entries, 0);
  for (const path of ['/', '/former']) assert.equal(await answer(path), '500 2238');
  const hint = new RegExp(`localhost:${upstream.port} is not in GATEHOUSE_POLICY_REQUEST_HOSTS`);
  await until(() => hint.test(program.output), 'the log names the setting');
  const seen = upstream.requests;

  const put = (change: string) => program.must('PUT', `${routePath}/traffic_policy`, { value: change });
  await assert.rejects(put(value.replace('200', '201').replace(url, `${url}other`)), /GATEHOUSE_POLICY_REQUEST_HOSTS/);
  const exported = await program.must('GET', '/configuration');
  assert.ok(JSON.stringify(exported).includes(url));
  const applied = await program.must('POST', '/configuration', exported.entries);
  assert.deepEqual(applied.steps, []);
  const described = exported.entries.map((entry: object) => ({ ...entry, description: 'of a file' }));
  assert.ok((await program.must('POST', '/configuration', described)).steps.length > 2);
  const moved = JSON.parse(JSON.stringify(exported.entries).replaceAll(url, `${url}moved`));
  const dry = await program.call('POST', '/configuration?dry_run=true', moved);
  assert.deepEqual([dry.status, /GATEHOUSE_POLICY_REQUEST_HOSTS/.test(dry.body.msg)], [400, true]);
  await program.must('PATCH', routePath, { description: 'with all', traffic_policy: { value } });
  for (const path of [`/edges/https/${edgeId}`, routePath, former, endpoint])
    await program.must('PATCH', path, { description: 'changed' });
  for (const path of ['/edges/https', `/edges/https/${edgeId}/routes`, '/endpoints']) await program.must('GET', path);
  await program.must('PUT', `${routePath}/compression`, { enabled: true });
  assert.equal(await answer(), '500 2238');
  await put(filled);
  assert.equal(await answer(`/?u=${encodeURIComponent(url)}`), '500 2238');
  assert.equal(upstream.requests, seen);
  await program.must('DELETE', `${routePath}/traffic_policy`);
  assert.equal(await answer(), '200 ');
  for (const each of [routePath, former, `/edges/https/${edgeId}`, endpoint]) await program.must('DELETE', each);
});
