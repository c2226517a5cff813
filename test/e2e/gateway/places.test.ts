import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { geoDatabase } from '../../support/geo-database.ts';
import { newSqlite, scratchFolder } from '../../support/scratch.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
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
  });

for (const workers of ['off', '2'])
  test(`rules go by the place of visitors, and by that of a new file (workers: ${workers})`, async () => {
    const path = join(scratchFolder(), 'places.mmdb');
    writeFileSync(path, databaseOf('DE'));
    await using upstream = await startUpstream();
    await using program = await Program.start(newSqlite(), { workers, 'geo-database': path, 'drain-seconds': '0' });
    const { routePath } = await createAppEdge(program, upstream.port);
    const policyOf = (expression: string) =>
      JSON.stringify({ on_http_request: [{ expressions: [expression], actions: [{ type: 'deny' }] }] });
    const put = (expression: string) =>
      program.call('PUT', `${routePath}/traffic_policy`, { value: policyOf(expression) });
    const statuses = async (from = '127.0.0.1') => {
      const asked = Array.from({ length: 16 }, () => askHttps(program.httpsPort, appHost, { from }));
      return [...new Set((await Promise.all(asked)).map(({ status }) => status))].join();
    };
    const told = "conn.geo.country == 'Land' && conn.geo.city == 'Bonn' && conn.client_ip.geo.location.radius == '20'";
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

test('a file that cannot be used ends the start with a sentence', async () => {
  const path = join(scratchFolder(), 'places.mmdb');
  writeFileSync(path, 'nonsense');
  await assert.rejects(
    Program.start(newSqlite(), { 'geo-database': path }),
    /--geo-database ".*" cannot be used: it is no file in the MaxMind DB format\. Name a file in the MaxMind DB format/,
  );
});
