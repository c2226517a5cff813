import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createServer } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import { AgentCertificates } from '../../src/start/agents/certificates.ts';
import { makePair } from '../support/certificate-pair.ts';
import type { CertificatePair } from '../support/certificate-pair.ts';
import { createAccount, createUser } from '../support/people.ts';
import { onEachServed } from './support/served-agents.ts';

const pairFor = (name: string): CertificatePair =>
  makePair(`agents-${name}`, '-days', '5', '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`);

/** The issuer of the certificate that a client with this server name is shown. */
async function issuerAt(port: number, servername: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { issuer = '' } = socket.getPeerX509Certificate() ?? {};
  socket.destroy();
  return issuer;
}

onEachServed('the listener of agents', (served) => {
  test('shows no certificate that an account has uploaded, whoever has reserved its name', async () => {
    const { gatehouse, port } = served();
    const { token } = await createUser(gatehouse, 'member', await createAccount(gatehouse));
    const name = 'agents.example.com';
    const { certificate_pem, private_key_pem } = pairFor(name);
    const body = { certificate_pem, private_key_pem };
    const uploaded = await gatehouse.call('POST', '/tls_certificates', body, { token });
    const reserved = { domain: name, certificate_id: uploaded.body.id };
    assert.equal((await gatehouse.call('POST', '/reserved_domains', reserved, { token })).status, 201);
    assert.match(await issuerAt(port, name), /Gatehouse/);
  });
});

test('the certificate in the files of the operator is for its own names, and a renewed one is shown without a restart', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = { agentCertificate: join(folder, 'cert.pem'), agentCertificateKey: join(folder, 'key.pem') };
  const give = async ({ certificate_pem, private_key_pem }: CertificatePair) => {
    await writeFile(files.agentCertificate, certificate_pem);
    await writeFile(files.agentCertificateKey, private_key_pem);
  };
  const authority = await openLocalCa({ load: async () => undefined, save: async (pair) => pair });
  const warnings: string[] = [];
  const log = { warn: (_: unknown, message?: string) => void warnings.push(message ?? '') };
  let nowMs = Date.now();
  const open = () => AgentCertificates.open(files, authority, log, () => nowMs);
  await assert.rejects(open(), /GATEHOUSE_AGENT_CERTIFICATE.*cannot be used/);
  await give(pairFor('first.example.com'));
  const certificates = await open();
  const answer = async (name: string, done: (error: Error | null, context?: SecureContext) => void): Promise<void> => {
    done(null, await certificates.contextFor(name, '127.0.0.1'));
  };
  const server = createServer({ SNICallback: (name, done) => void answer(name, done) }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  assert.equal(await issuerAt(port, 'first.example.com'), 'CN=first.example.com');
  assert.match(await issuerAt(port, 'other.example.com'), /Gatehouse/);
  await give(pairFor('second.example.com'));
  assert.match(await issuerAt(port, 'second.example.com'), /Gatehouse/, 'files are not read for each agent');
  nowMs += 61_000;
  assert.equal(await issuerAt(port, 'second.example.com'), 'CN=second.example.com');
  await writeFile(files.agentCertificateKey, 'torn');
  nowMs += 61_000;
  assert.equal(await issuerAt(port, 'second.example.com'), 'CN=second.example.com');
  assert.equal(warnings.length, 1);
});
