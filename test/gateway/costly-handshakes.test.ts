import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { connect } from 'node:tls';

import { createConnector } from '../../src/gateway/upstream/connect.ts';
import { UpstreamGuard } from '../../src/gateway/upstream/guard.ts';
import { ListenerTable } from '../../src/gateway/upstream/listener-table.ts';
import { UpstreamSockets } from '../../src/gateway/upstream/upstream-sockets.ts';
import { mutualTls } from '../../src/modules/mutual-tls/index.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { freePort } from '../support/free-port.ts';
import { edgeCertificate, makeCertificate } from './support/https-certificate.ts';
import { get, parseAnswer, readAll, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { portOf, startUpstream } from './support/https-upstream.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

const authority = new ClientAuthority('own');
const ada = authority.sign('ada');

/** A chain with certificates behind it that nobody needs, so that it has about so many bytes. */
function longChain(cert: string, bytes: number): string {
  const more = authority.pem;
  const size = Buffer.from(more.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64').length;
  return `${cert.trim()}\n${more.trim()}\n` + `${more.trim()}\n`.repeat(Math.ceil(bytes / size));
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a visitor who shows more certificates than anybody needs is cut off, by ${version}`, async () => {
    await using upstream = await startUpstream((_request, response, body) => response.end(String(body.length)));
    const asking = { mutual_tls: mutualTls.accept({ ca_pem: authority.pem }) };
    const route = prefixRoute('/', { ...toBackend('b'), ...asking });
    await using gateway = await startGateway([backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [route])]);
    const visit = async (cert: string) => {
      const common = { port: gateway.port, host: '127.0.0.1', servername: 'app.test', ca: edgeCertificate.certificate };
      const socket = connect({ ...common, cert, key: ada.key, minVersion: version, maxVersion: version });
      socket.on('error', () => {});
      // Sent right behind the handshake: what is no part of it does not count.
      const body = 'x'.repeat(200_000);
      socket.write(`POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`);
      socket.write(body);
      const text = await readAll(socket).catch(() => '');
      return text === '' ? 'cut off' : parseAnswer(text).body;
    };
    assert.equal(await visit(ada.cert), '200000');
    assert.equal(await visit(longChain(ada.cert, 10_000)), '200000');
    assert.equal(await visit(longChain(ada.cert, 40_000)), 'cut off');
    assert.equal(await visit(ada.cert), '200000');
  });
}

test('an upstream that shows more certificates than anybody needs is refused, until its account has shown that it is usual', async () => {
  const own = makeCertificate('DNS:localhost');
  const shown = { key: own.key, cert: longChain(own.certificate, 40_000) };
  const server = createServer(shown, (_request, response) => response.end('secure')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const entryOf = (accountId: string) =>
    backendEntry(`b_${accountId}`, portOf(server), { tls: true, host: 'localhost', accountId });
  const routes = ['one', 'two'].map((account) => prefixRoute(`/${account}`, toBackend(`b_${account}`)));
  await using gateway = await startGateway([entryOf('one'), entryOf('two'), edgeEntry('e', ['app.test'], routes)], {
    upstreamAuthorities: [own.certificate],
  });
  const codeOf = async (path: string) => {
    const { status, headers } = await sendRaw(gateway.port, get(path));
    return [status, headers['gatehouse-error-code']];
  };
  assert.deepEqual(await codeOf('/one'), [502, 'ERR_GATEHOUSE_20193']);
  server.setSecureContext({ key: own.key, cert: own.certificate });
  assert.deepEqual(await codeOf('/one'), [200, undefined]);
  assert.deepEqual(await codeOf('/two'), [200, undefined]);
  server.closeAllConnections();
  server.setSecureContext(shown);
  // A chain that leads to a known authority costs little, however long it is.
  assert.deepEqual(await codeOf('/two'), [200, undefined]);
  assert.deepEqual(await codeOf('/one'), [502, 'ERR_GATEHOUSE_20193'], 'one of its handshakes has failed lately');
  server.closeAllConnections();
  server.close();
});

test('of the handshakes that an account has under way, one may go without a bound', async (t) => {
  const own = makeCertificate('DNS:localhost');
  const usual = { key: own.key, cert: own.certificate };
  const server = createServer(usual).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const listeners = new ListenerTable(
    { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' },
    { has: () => false },
  );
  const guard = new UpstreamGuard({ listeners, sockets: new UpstreamSockets(), allowLinkLocal: false, refused() {} });
  const connectUpstream = createConnector(guard, [own.certificate]);
  const shake = (accountId: string, port = portOf(server)) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const target = { id: 'b', accountId, host: 'localhost', port, tls: true };
    let outcome = '';
    const socket = connectUpstream(target, {}, () => {
      outcome = 'established';
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (outcome = error.code ?? ''));
    socket.on('close', () => resolve(outcome));
    return promise;
  };
  for (const account of ['one', 'two']) assert.equal(await shake(account), 'established');
  // One that leads to a known authority, and passes where nobody counts its bytes.
  server.setSecureContext({ ...usual, cert: longChain(own.certificate, 40_000) });
  assert.equal(await shake('two', await freePort()), 'ECONNREFUSED', 'nothing was seen of that one');
  for (let round = 0; round < 3; round++) assert.equal(await shake('two'), 'established', 'one after the other');
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => shake('one')));
  assert.deepEqual(outcomes.toSorted(), [...Array(3).fill('ERR_TLS_HANDSHAKE_TOO_LONG'), 'established']);
});

test('an issuer of one account makes no other account trust its own, and takes no trust from it', async (t) => {
  const own = makeCertificate('DNS:localhost');
  const usual = { key: own.key, cert: own.certificate };
  const costly = { ...usual, cert: longChain(own.certificate, 40_000) };
  await using issuer = await TokenIssuer.start('a');
  const keys = JSON.stringify({ keys: [...issuer.shown.values()] });
  const startServer = async (shown: typeof usual) => {
    const server = createServer(shown, (_request, response) => response.end(keys)).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    return server;
  };
  const [good, other, bad] = [await startServer(usual), await startServer(usual), await startServer(costly)];
  const urlOf = (server: typeof good) => `https://localhost:${portOf(server)}`;
  const rule = { enabled: true, audiences: [audience], algorithms: ['ES256'], clock_skew: 0, header: 'authorization' };
  const routeTo = (path: string, server: typeof good) =>
    prefixRoute(path, {
      ...toBackend('b'),
      jwt_validation: { ...rule, issuer: urlOf(server), jwks_uri: `${urlOf(server)}/keys`, claims: {} },
    });
  await using upstream = await startUpstream();
  const routes = [routeTo('/good', good), routeTo('/other', other), routeTo('/bad', bad)];
  const edges = ['one', 'two'].map((account) => edgeEntry(account, [`${account}.test`], routes, account));
  await using gateway = await startGateway([backendEntry('b', upstream.port), ...edges], {
    upstreamAuthorities: [own.certificate],
  });
  const statusOf = async (account: string, server: typeof good, path: string) => {
    const token = await issuer.token({ iss: urlOf(server) });
    const request = get(path, `Host: ${account}.test`, `Authorization: Bearer ${token}`);
    return (await sendRaw(gateway.port, request, { servername: `${account}.test` })).status;
  };
  assert.equal(await statusOf('one', good, '/good'), 200, 'its account is trusted from now on');
  assert.equal(await statusOf('two', bad, '/bad'), 503);
  // Such a chain passes where its account is trusted.
  other.setSecureContext(costly);
  assert.equal(await statusOf('one', other, '/other'), 200);
});
