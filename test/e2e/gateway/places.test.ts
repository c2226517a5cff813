import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { geoDatabase } from '../../support/geo-database.ts';
import { newSqlite, scratchFolder } from '../../support/scratch.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import type { AppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const databaseOf = (iso_code: string) =>
  geoDatabase({
    '127.0.0.0/24': {
      country: { iso_code, names: { en: 'Land' } },
      city: { names: { en: 'Bonn' } },
      location: { accuracy_radius: 20 },
    },
    // Of a place without a country nobody knows, and of one of the union it says so.
    '127.0.2.0/24': { city: { names: { en: 'Nowhere' } } },
    '127.0.3.0/24': { country: { iso_code: 'FR', is_in_european_union: true } },
  });

const oneProcess = { workers: 'off', 'drain-seconds': '0' };

const policyOf = (expression: string) =>
  JSON.stringify({ on_http_request: [{ expressions: [expression], actions: [{ type: 'deny' }] }] });

for (const workers of ['off', '2'])
  test(`rules go by the place of visitors, and by that of a new file (workers: ${workers})`, async () => {
    const path = join(scratchFolder(), 'places.mmdb');
    writeFileSync(path, databaseOf('DE'));
    await using upstream = await startUpstream();
    await using program = await Program.start(newSqlite(), {
      workers,
      'geo-database': path,
      region: 'north',
      'drain-seconds': '0',
    });
    const { routePath } = await createAppEdge(program, upstream.port);
    const put = (expression: string) =>
      program.call('PUT', `${routePath}/traffic_policy`, { value: policyOf(expression) });
    const statuses = async (from = '127.0.0.1') => {
      // As many as meet both workers.
      const asked = Array.from({ length: workers === 'off' ? 1 : 16 }, () =>
        askHttps(program.httpsPort, appHost, { from }),
      );
      return [...new Set((await Promise.all(asked)).map(({ status }) => status))].join();
    };
    const told =
      "conn.geo.country == 'Land' && conn.geo.city == 'Bonn' && conn.client_ip.geo.location.radius == '20' && conn.server_region == 'north'";
    const expected: readonly (readonly [string, string, string])[] = [
      [told, '403', '500'],
      // What the database does not say is absent, so that a rule which guards closes.
      ["conn.geo.country_code != 'DE'", '200', '500'],
      ["has(conn.geo.country_code) && conn.geo.country_code != 'DE'", '200', '200'],
      ['conn.client_ip.geo.location.is_eu', '200', '500'],
    ];
    for (const [expression, known, unknown] of expected) {
      assert.equal((await put(expression)).status, 200, expression);
      assert.deepEqual([await statuses(), await statuses('127.0.1.1')], [known, unknown], expression);
    }
    assert.deepEqual([await statuses('127.0.2.1'), await statuses('127.0.3.1')], ['500', '403']);
    for (const name of [
      'conn.geo.county',
      'conn.client_ip.geo.registered_location.country',
      'conn.server_ip.geo.location.city',
    ])
      assert.equal((await put(`${name} == 'x'`)).status, 400, name);

    assert.equal((await put("conn.geo.country_code != 'DE'")).status, 200);
    writeFileSync(`${path}.new`, databaseOf('FR'));
    renameSync(`${path}.new`, path);
    // Each process reads the file for itself.
    await until(async () => (await statuses()) === '403', 'all know the new file');
    const request = { url: `https://${appHost}/`, ip: '127.0.0.1' };
    await until(async () => {
      const policy = policyOf("conn.geo.country_code == 'FR'");
      return (await program.must('POST', '/traffic_policy_check', { policy, request })).verdict === 'refuses';
    }, 'trials know it too');
  });

test('without the database, what goes by places is closed with its cause, and can be changed and deleted', async () => {
  const path = join(scratchFolder(), 'places.mmdb');
  writeFileSync(path, databaseOf('DE'));
  await using upstream = await startUpstream();
  const database = newSqlite();
  const value = policyOf("conn.geo.country_code != 'DE'");
  const connect = value.replace('on_http_request', 'on_tcp_connect');
  const allow = policyOf('true').replace('"deny"', '"log","config":{"metadata":{}}');
  let made: AppEdge;
  let endpoint = '';
  {
    await using program = await Program.start(database, { ...oneProcess, 'geo-database': path });
    made = await createAppEdge(program, upstream.port);
    await program.must('PUT', `${made.routePath}/traffic_policy`, { value });
    await program.must('PUT', `${made.tcpPath}/traffic_policy`, { value: connect });
    const traffic_policy = JSON.stringify({
      on_http_request: [...JSON.parse(value).on_http_request, { actions: [{ type: 'deny' }] }],
    });
    endpoint = `/endpoints/${(await program.must('POST', '/endpoints', { url: 'https://geo.internal', traffic_policy })).id}`;
    assert.equal((await askHttps(program.httpsPort, appHost)).status, 200);
  }
  await using program = await Program.start(database, oneProcess);
  const { edgeId, routePath, tcpPath } = made;
  const answer = async () => {
    const { status, errorCode } = await askHttps(program.httpsPort, appHost);
    return `${status} ${errorCode ?? ''}`;
  };
  assert.equal(await answer(), '503 20077');
  assert.equal((await program.call('GET', '/readyz')).body.faulty_entries, 3);
  const cause = /there is no database of places; the operator names one with GATEHOUSE_GEO_DATABASE/;
  await until(() => cause.test(program.output), 'the log says why');

  const put = (change: string) => program.must('PUT', `${routePath}/traffic_policy`, { value: change });
  await assert.rejects(put(value.replace('DE', 'FR')), cause);
  const { entries } = await program.must('GET', '/configuration');
  assert.deepEqual((await program.must('POST', '/configuration', entries)).steps, []);
  await program.must('PATCH', `/edges/https/${edgeId}`, { description: 'changed' });
  await program.must('PATCH', routePath, { description: 'changed' });
  await program.must('PATCH', tcpPath, { description: 'changed' });
  await program.must('PUT', `${routePath}/compression`, { enabled: true });
  await program.must('PATCH', endpoint, { description: 'changed' });
  assert.equal(await answer(), '503 20077');
  await put(allow);
  assert.equal(await answer(), '200 ');
  await program.must('DELETE', `${tcpPath}/traffic_policy`);
  for (const each of [routePath, `/edges/https/${edgeId}`, tcpPath, endpoint]) await program.must('DELETE', each);
  assert.equal((await program.call('GET', '/readyz')).body.faulty_entries, 0);
});

test('a file that cannot be used ends the start with a sentence', async () => {
  const path = join(scratchFolder(), 'places.mmdb');
  writeFileSync(path, 'nonsense');
  await assert.rejects(
    Program.start(newSqlite(), { 'geo-database': path }),
    /--geo-database ".*" cannot be used: it is no file in the MaxMind DB format\. Name a file in the MaxMind DB format/,
  );
});
