import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { GatehouseProcess } from '../../../test/support/gatehouse-process.ts';
import { connectPostgres } from '../../../test/support/postgres-client.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import type { PostgresServer } from '../../../test/support/postgres.ts';

let server: PostgresServer | undefined;

before(async () => {
  server = await startPostgres();
  await using client = await connectPostgres(server.url);
  await client.query("CREATE USER asked PASSWORD 'hunter2'");
  await writeFile(
    join(server.directory, 'data', 'pg_hba.conf'),
    'host all asked all scram-sha-256\nhost all all all trust\n',
  );
  // PostgreSQL itself cuts a sign-in that hangs, by default after 60 s: who waits for that exceeds the limit of the test.
  await client.query("ALTER SYSTEM SET authentication_timeout = '600s'");
  await client.query('SELECT pg_reload_conf()');
});
after(() => server?.[Symbol.asyncDispose]());

test(
  'a PostgreSQL that asks for a password is answered in one sentence, and the program ends',
  { timeout: 300_000 },
  async () => {
    const url = (server?.url ?? '').replace('postgres@', 'asked@');
    for (const command of [
      ['serve', '--role', 'api', '--api-listen', '127.0.0.1:0', '--database-url', url],
      ['accounts', 'list', '--database-url', url],
    ]) {
      const { code, errors } = await GatehouseProcess.run(command);
      assert.equal(code, 1);
      assert.match(errors, /PostgreSQL asks for a password.*PGPASSWORD/);
      assert.ok(!/SASL|SCRAM| {4}at /.test(errors), errors);
    }
  },
);
