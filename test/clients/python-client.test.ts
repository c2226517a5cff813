import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ClientAuthority } from '../support/client-certificates.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { installCommand } from '../support/install-programs.ts';
import { startWithVendor } from './support/wire.ts';

const script = fileURLToPath(new URL('support/python_wire.py', import.meta.url));

/** Finds a Python that has the library: that of Debian's package may not be the first on the path. */
function findPython(): string {
  const has = (python: string) => spawnSync(python, ['-c', 'import requests'], { stdio: 'ignore' }).status === 0;
  const found = ['python3', '/usr/bin/python3'].find(has);
  assert.ok(found, `This test needs Python's requests. Run "${installCommand(['python3-requests'])}" as root.`);
  return found;
}

interface Sent {
  readonly call: string;
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

onAnyDatabase('what the Python client sends, by its own library', (newDatabase) => {
  test('is understood, and loses nothing', async () => {
    const python = findPython();
    await using gatehouse = await startWithVendor(await newDatabase());
    const { pem } = new ClientAuthority('staff');
    const { stdout } = await promisify(execFile)(python, [script, gatehouse.url, gatehouse.token, pem]);
    const sent = stdout
      .trim()
      .split('\n')
      .map((line): Sent => JSON.parse(line));
    const expected: Readonly<Record<string, number>> = { post: 201, get: 200, patch: 200, put: 200, delete: 204 };
    for (const { call, status, body } of sent) {
      assert.equal(status, expected[call.split(' ')[0] ?? ''], `${call}: ${JSON.stringify(body)}`);
    }
    const rule = sent.find(({ call }) => call === 'post /ip_policy_rules');
    assert.equal(rule?.body.cidr, '2001:0db8:7::/48');
    const route = sent.find(({ call }) => call.startsWith('patch /edges/https/'));
    assert.deepEqual([route?.body.description, route?.body.metadata, route?.body.match], ['kept', 'kept', '/']);
    const backend = sent.find(({ call }) => call.startsWith('patch /backends/static'));
    assert.deepEqual([backend?.body.address, backend?.body.description], ['127.0.0.1:9', 'changed']);
    const bodyOf = (start: string) => sent.find(({ call }) => call.startsWith(start))?.body;
    assert.deepEqual(
      [bodyOf('patch /backends/http_response').body, bodyOf('patch /edges/tls').description],
      ['later', 'changed'],
    );
    // Empty lists and maps, which it sends for what is not given, take nothing away.
    assert.equal(bodyOf('patch /backends/failover').backends.length, 2);
    assert.deepEqual(Object.values(bodyOf('patch /backends/weighted').backends), [3]);
    assert.equal(bodyOf('patch /edges/tls').tls_termination.terminate_at, 'edge');
    for (const { call, body } of sent)
      if (call.endsWith('/webhook_verification') && body !== null)
        assert.deepEqual(body, { enabled: true, provider: 'slack' }, call);
    const users = sent.find(({ call }) => call === 'get /service_users');
    assert.deepEqual(users?.body.service_users, []);
  });
});
