import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ClientAuthority } from '../support/client-certificates.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { startWithVendor } from './support/wire.ts';

const script = fileURLToPath(new URL('support/python_wire.py', import.meta.url));

/** Why the tests cannot run here; false where they can. */
function missing(): string | false {
  try {
    execFileSync('python3', ['-c', 'import requests'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'python3 with its package requests is not installed (apt-get install python3-requests)';
  }
}

interface Sent {
  readonly call: string;
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

const skip = missing();
if (skip !== false) console.log(`skipped: ${skip}`);

onAnyDatabase('what the Python client sends, by its own library', (newDatabase) => {
  test('is understood, and loses nothing', { skip }, async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const { pem } = new ClientAuthority('staff');
    const { stdout } = await promisify(execFile)('python3', [script, gatehouse.url, gatehouse.token, pem]);
    const sent = stdout
      .trim()
      .split('\n')
      .map((line): Sent => JSON.parse(line));
    const expected: Readonly<Record<string, number>> = { post: 201, get: 200, patch: 200, put: 200, delete: 204 };
    for (const { call, status, body } of sent) {
      if (call === 'get /vaults') assert.deepEqual([status, body.error_code], [404, 'ERR_NGROK_20191']);
      else assert.equal(status, expected[call.split(' ')[0] ?? ''], `${call}: ${JSON.stringify(body)}`);
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
