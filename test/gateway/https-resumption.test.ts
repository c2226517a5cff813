import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { SecureVersion, TLSSocket } from 'node:tls';

import { edgeCertificate } from './support/https-certificate.ts';
import { get, parseAnswer, readAll } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

interface Visit {
  readonly version: SecureVersion;
  readonly servername?: string;
  readonly host?: string;
  readonly session?: Buffer | undefined;
}

interface Visited {
  readonly status: number;
  readonly isResumed: boolean;
  readonly session: Buffer | undefined;
}

async function visit(port: number, { version, servername, host = servername, session }: Visit): Promise<Visited> {
  const socket: TLSSocket = connect({
    port,
    host: '127.0.0.1',
    // Empty: the client names no server.
    servername: servername ?? '',
    ca: edgeCertificate.certificate,
    checkServerIdentity: () => undefined,
    minVersion: version,
    maxVersion: version,
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
  }).on('error', () => {});
  let latest: Buffer | undefined;
  let isResumed = false;
  socket.on('session', (each) => (latest = each));
  socket.on('secureConnect', () => (isResumed = socket.isSessionReused()));
  socket.write(get('/', `Host: ${host}`));
  // A handshake that is refused is no answer.
  const status = await readAll(socket).then(
    (answer) => parseAnswer(answer).status,
    () => 0,
  );
  return { status, isResumed, session: latest };
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`by ${version}, a client that comes again resumes its session, and is served`, async () => {
    await using upstream = await startUpstream();
    const route = prefixRoute('/', toBackend('b'));
    await using gateway = await startGateway([
      backendEntry('b', upstream.port),
      edgeEntry('one', ['app.test'], [route]),
      edgeEntry('two', ['other.test'], [route]),
    ]);
    const first = await visit(gateway.port, { version, servername: 'app.test' });
    assert.deepEqual([first.status, first.isResumed], [200, false]);
    const { session } = first;
    assert.ok(session);
    const again = await visit(gateway.port, { version, servername: 'app.test', session });
    assert.deepEqual([again.status, again.isResumed], [200, true]);
    // The name that counts is that of this handshake, whatever the session was begun with.
    const elsewhere = await visit(gateway.port, { version, servername: 'other.test', host: 'app.test', session });
    assert.equal(elsewhere.status, 421);
    const unnamed = await visit(gateway.port, { version, host: 'app.test', session });
    assert.equal(unnamed.status, 0);
    assert.equal(upstream.seen.length, 2);
  });
}
