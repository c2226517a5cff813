import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { makePair } from '../../../test/support/certificate-pair.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';

onDatabasesInTurn('GET /public_addresses', (newDatabase) => {
  const read = async (gatehouse: Gatehouse, headers: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await gatehouse.get('/public_addresses', { headers });
    assert.equal(status, 200);
    return body;
  };

  test('an agent is told the host of the call, the port that listens, and the authority that is shown there', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), {
      httpsListen: '127.0.0.1:0',
      agentListen: '127.0.0.1:0',
    });
    const { agents, engine } = gatehouse.app;
    const { fingerprint256 } = new X509Certificate(engine?.caCertificatePem ?? '');
    const { agent_server, agent_server_is_local, agent_fingerprint } = await read(gatehouse);
    assert.equal(agent_server, `127.0.0.1:${agents?.port}`);
    assert.equal(agent_server_is_local, true);
    assert.equal(agent_fingerprint, `sha256:${fingerprint256.replaceAll(':', '').toLowerCase()}`);
    const hosts = {
      'gate.example.com:4040': 'gate.example.com',
      '[::1]:4040': '[::1]',
      '1.2.3.4.5': '127.0.0.1',
      ':': '127.0.0.1',
    };
    for (const [host, expected] of Object.entries(hosts)) {
      const asked = await read(gatehouse, { host });
      assert.equal(asked.agent_server, `${expected}:${agents?.port}`, host);
    }
  });

  test('the address that the operator names goes before', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), {
      agentListen: '127.0.0.1:0',
      agentAddress: 'agents.example.com:443',
    });
    const { agent_server, agent_server_is_local } = await read(gatehouse);
    assert.deepEqual([agent_server, agent_server_is_local], ['agents.example.com:443', false]);
  });

  test('no server is named where none takes agents, and no fingerprint where the operator has a certificate', async () => {
    await using without = await Gatehouse.start(await newDatabase());
    assert.equal((await read(without)).agent_server, null);
    const folder = scratchFolder();
    const pair = makePair('agents', '-subj', '/CN=gate', '-addext', 'subjectAltName=DNS:gate.example.com');
    writeFileSync(join(folder, 'agents.pem'), pair.certificate_pem);
    writeFileSync(join(folder, 'agents.key'), pair.private_key_pem);
    await using own = await Gatehouse.start(await newDatabase(), {
      httpsListen: '127.0.0.1:0',
      agentListen: '0.0.0.0:0',
      agentCertificate: join(folder, 'agents.pem'),
      agentCertificateKey: join(folder, 'agents.key'),
    });
    const { agent_fingerprint, agent_server_is_local } = await read(own);
    assert.deepEqual([agent_fingerprint, agent_server_is_local], [null, false]);
  });

  test('URLs have the port that a browser reaches: the listener below localhost, else https_port, or the one that is set', async () => {
    const port = await freePort();
    const httpsListen = `127.0.0.1:${port}`;
    const urlsOf = async (gatehouse: Gatehouse) => {
      const { body: all } = await gatehouse.get('/endpoints');
      const { https_port: https, local_https_port: local } = await read(gatehouse);
      return [
        https,
        local,
        ...all.endpoints.map(({ public_url: url }: { readonly public_url: string }) => url).toSorted(),
      ];
    };
    const database = await newDatabase();
    {
      await using gatehouse = await Gatehouse.start(database, { httpsListen });
      await gatehouse.create('/edges/https', { hostports: ['shop.kestrel.localhost:443', 'shop.example.com:443'] });
      await gatehouse.create('/edges/tls', { hostports: ['mqtt.localhost:443'] });
      const expected = [
        'https://shop.example.com',
        `https://shop.kestrel.localhost:${port}`,
        `tls://mqtt.localhost:${port}`,
      ];
      assert.deepEqual(await urlsOf(gatehouse), [443, port, ...expected]);
    }
    await using behind = await Gatehouse.start(database, { httpsListen, agentUrlPort: '9443' });
    const set = ['https://shop.example.com:9443', 'https://shop.kestrel.localhost:9443', 'tls://mqtt.localhost:9443'];
    assert.deepEqual(await urlsOf(behind), [9443, 9443, ...set]);
  });
});
