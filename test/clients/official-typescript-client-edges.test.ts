import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeCertificate } from '../gateway/support/https-certificate.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { errorOf, expectDeleted, startWithClient } from './support/typescript-client.ts';

type World = Awaited<ReturnType<typeof startWithClient>>;

/** Casts to the `Map` that the client's types want; it sends a real `Map` as `{}`, a plain object unchanged. */
function headerMap(headers: Readonly<Record<string, string>>): Map<string, string> {
  return headers as unknown as Map<string, string>;
}

function makeBackend({ client }: World) {
  return client.backends.staticBackends.create({ address: 'app.internal:8080', tls: { enabled: false } });
}

onAnyDatabase('the official TypeScript client on edges', (newDatabase) => {
  test('works with static backends', async () => {
    await using world = await startWithClient(await newDatabase());
    const { staticBackends } = world.client.backends;
    const backend = await staticBackends.create({
      address: 'app.internal:8443',
      tls: { enabled: true },
      metadata: 'm',
    });
    assert.deepEqual([backend.address, backend.tls, backend.metadata], ['app.internal:8443', { enabled: true }, 'm']);
    const updated = await staticBackends.update({
      id: backend.id,
      address: 'app.internal:9443',
      tls: { enabled: true },
    });
    assert.deepEqual(updated, { ...backend, address: 'app.internal:9443' });
    assert.deepEqual(await staticBackends.list(), [updated]);
    await expectDeleted(staticBackends.delete(backend.id), () => staticBackends.get(backend.id));
  });

  test('works with TCP edges and their modules', async () => {
    await using world = await startWithClient(await newDatabase());
    const { edges, edgeModules, ipPolicies } = world.client;
    const { edgesTcp } = edges;
    const { tcpEdgeBackendModule, tcpEdgeIpRestrictionModule } = edgeModules;
    const backend = await makeBackend(world);
    const policy = await ipPolicies.create({});
    const ref = ({ id, uri }: { readonly id: string; readonly uri: string }) => ({ id, uri });
    const edge = await edgesTcp.create({ backend: { backendId: backend.id } });
    assert.deepEqual([edge.hostports, edge.ipRestriction], [null, null]);
    assert.deepEqual(edge.backend, { enabled: true, backend: ref(backend) });
    // The response wraps the module, beside the id of the edge.
    const restriction = await tcpEdgeIpRestrictionModule.replace({ id: edge.id, module: { ipPolicyIds: [policy.id] } });
    assert.deepEqual(restriction, { enabled: true, ipPolicies: [ref(policy)] });
    assert.deepEqual(await tcpEdgeIpRestrictionModule.get(edge.id), restriction);
    const off = await tcpEdgeBackendModule.replace({ id: edge.id, module: { enabled: false, backendId: backend.id } });
    assert.deepEqual((await edgesTcp.get(edge.id)).backend, off);
    const described = await edgesTcp.update({ id: edge.id, description: 'ssh' });
    assert.deepEqual([described.backend, described.ipRestriction], [off, restriction]);
    assert.deepEqual(await edgesTcp.list(), [described]);
    assert.equal((await errorOf(ipPolicies.delete(policy.id))).statusCode, 409);
    await expectDeleted(tcpEdgeIpRestrictionModule.delete(edge.id), () => tcpEdgeIpRestrictionModule.get(edge.id));
    const without = await errorOf(tcpEdgeIpRestrictionModule.replace({ id: edge.id, module: { ipPolicyIds: [] } }));
    assert.equal(without.errorCode, 'ERR_NGROK_7025');
    await expectDeleted(edgesTcp.delete(edge.id), () => edgesTcp.get(edge.id));
  });

  test('works with TLS edges and their modules', async () => {
    await using world = await startWithClient(await newDatabase());
    const { edges, edgeModules, ipPolicies, certificateAuthorities } = world.client;
    const { edgesTls } = edges;
    const { tlsEdgeBackendModule, tlsEdgeIpRestrictionModule } = edgeModules;
    const { tlsEdgeMutualTlsModule, tlsEdgeTlsTerminationModule } = edgeModules;
    const backend = await makeBackend(world);
    const policy = await ipPolicies.create({});
    const authority = await certificateAuthorities.create({ caPem: new ClientAuthority('staff').pem });
    const edge = await edgesTls.create({ hostports: ['db.example.com:443'], backend: { backendId: backend.id } });
    assert.deepEqual([edge.hostports, edge.tlsTermination, edge.mutualTls], [['db.example.com:443'], null, null]);
    const { id } = edge;
    const ending = await tlsEdgeTlsTerminationModule.replace({
      id,
      module: { terminateAt: 'edge', minVersion: '1.3' },
    });
    assert.deepEqual(ending, { enabled: true, terminateAt: 'edge', minVersion: '1.3' });
    const asking = { id, module: { certificateAuthorityIds: [authority.id] } };
    const asked = await tlsEdgeMutualTlsModule.replace(asking);
    assert.equal(asked.certificateAuthorities[0]?.id, authority.id);
    const restricted = await tlsEdgeIpRestrictionModule.replace({ id, module: { ipPolicyIds: [policy.id] } });
    const off = await tlsEdgeBackendModule.replace({ id, module: { enabled: false, backendId: backend.id } });
    const described = await edgesTls.update({ id, description: 'database' });
    const { backend: shown, ipRestriction, mutualTls, tlsTermination } = described;
    assert.deepEqual([shown, ipRestriction, mutualTls, tlsTermination], [off, restricted, asked, ending]);
    assert.deepEqual(await edgesTls.list(), [described]);
    for (const module of [tlsEdgeMutualTlsModule, tlsEdgeTlsTerminationModule, tlsEdgeIpRestrictionModule])
      await expectDeleted(module.delete(id), () => module.get(id));
    await expectDeleted(edgesTls.delete(id), () => edgesTls.get(id));
  });

  test('works with HTTPS edges and routes', async () => {
    await using world = await startWithClient(await newDatabase());
    const { edgesHttps, edgesHttpsRoutes } = world.client.edges;
    const edge = await edgesHttps.create({ hostports: ['app.example.com:443'], description: 'site' });
    assert.deepEqual([edge.hostports, edge.routes], [['app.example.com:443'], []]);
    const backend = await makeBackend(world);
    const route = await edgesHttpsRoutes.create({
      edgeId: edge.id,
      matchType: 'path_prefix',
      match: '/blog',
      backend: { backendId: backend.id },
      requestHeaders: { add: headerMap({ accept: 'text/html' }), remove: ['x-internal'] },
    });
    assert.equal(route.edgeId, edge.id);
    assert.deepEqual(route.requestHeaders, { enabled: true, add: { accept: 'text/html' }, remove: ['x-internal'] });
    const moved = await edgesHttpsRoutes.update({
      edgeId: edge.id,
      id: route.id,
      matchType: 'exact_path',
      match: '/news',
    });
    assert.deepEqual(moved, { ...route, matchType: 'exact_path', match: '/news' });
    assert.deepEqual(await edgesHttpsRoutes.get({ edgeId: edge.id, id: route.id }), moved);
    const renamed = await edgesHttps.update({ id: edge.id, hostports: ['new.example.com:443'] });
    assert.deepEqual([renamed.hostports, renamed.routes], [['new.example.com:443'], [moved]]);
    assert.deepEqual(await edgesHttps.list(), [renamed]);
    await expectDeleted(edgesHttpsRoutes.delete({ edgeId: edge.id, id: route.id }), () =>
      edgesHttpsRoutes.get({ edgeId: edge.id, id: route.id }),
    );
    await expectDeleted(edgesHttps.delete(edge.id), () => edgesHttps.get(edge.id));
  });

  test('works with every module of a route that there is', async () => {
    await using world = await startWithClient(await newDatabase());
    const { edges, edgeModules, ipPolicies } = world.client;
    const edge = await edges.edgesHttps.create({});
    const route = await edges.edgesHttpsRoutes.create({ edgeId: edge.id, matchType: 'path_prefix', match: '/' });
    const at = { edgeId: edge.id, id: route.id };
    const backend = await makeBackend(world);
    const policy = await ipPolicies.create({});
    const headers = { enabled: true, add: headerMap({ accept: 'a' }), remove: ['x-b'] };
    const { edgeRouteBackendModule, edgeRouteIpRestrictionModule } = edgeModules;
    const { edgeRouteRequestHeadersModule, edgeRouteResponseHeadersModule } = edgeModules;
    const sending = await edgeRouteBackendModule.replace({ ...at, module: { backendId: backend.id } });
    assert.deepEqual(await edgeRouteBackendModule.get(at), sending);
    const restricted = await edgeRouteIpRestrictionModule.replace({ ...at, module: { ipPolicyIds: [policy.id] } });
    assert.deepEqual(await edgeRouteIpRestrictionModule.get(at), restricted);
    for (const module of [edgeRouteRequestHeadersModule, edgeRouteResponseHeadersModule]) {
      const set = await module.replace({ ...at, module: headers });
      assert.deepEqual(set, { enabled: true, add: { accept: 'a' }, remove: ['x-b'] });
      assert.deepEqual(await module.get(at), set);
      // The client sends any Map as an empty object.
      const emptied = await module.replace({ ...at, module: { add: new Map([['x-a', 'b']]), remove: [] } });
      assert.deepEqual(emptied, { enabled: true, add: {}, remove: [] });
      await expectDeleted(module.delete(at), () => module.get(at));
    }
    await expectDeleted(edgeRouteIpRestrictionModule.delete(at), () => edgeRouteIpRestrictionModule.get(at));
    await expectDeleted(edgeRouteBackendModule.delete(at), () => edgeRouteBackendModule.get(at));
    const { edgeRouteCompressionModule, edgeRouteCircuitBreakerModule, edgeRouteUserAgentFilterModule } = edgeModules;
    const compressing = await edgeRouteCompressionModule.replace({ ...at, module: {} });
    assert.deepEqual(compressing, { enabled: true });
    const breaking = {
      enabled: true,
      trippedDuration: 10,
      rollingWindow: 20,
      numBuckets: 5,
      volumeThreshold: 6,
      errorThresholdPercentage: 0.5,
    };
    assert.deepEqual(await edgeRouteCircuitBreakerModule.replace({ ...at, module: breaking }), breaking);
    const filtering = { enabled: false, allow: ['^Mozilla/'], deny: ['(?i)^curl/'] };
    assert.deepEqual(await edgeRouteUserAgentFilterModule.replace({ ...at, module: filtering }), filtering);
    const { edgeRouteWebsocketTcpConverterModule } = edgeModules;
    assert.deepEqual(await edgeRouteWebsocketTcpConverterModule.replace({ ...at, module: {} }), { enabled: true });
    const whole = await edges.edgesHttpsRoutes.get(at);
    assert.deepEqual([whole.compression, whole.circuitBreaker], [compressing, breaking]);
    assert.deepEqual([whole.userAgentFilter, whole.websocketTcpConverter], [filtering, { enabled: true }]);
    for (const module of [
      edgeRouteCompressionModule,
      edgeRouteCircuitBreakerModule,
      edgeRouteUserAgentFilterModule,
      edgeRouteWebsocketTcpConverterModule,
    ])
      await expectDeleted(module.delete(at), () => module.get(at));
  });

  test('sets modules with secrets, which it never gets back and need not send again', async () => {
    await using world = await startWithClient(await newDatabase());
    const { edges, edgeModules } = world.client;
    const { edgeRouteWebhookVerificationModule, edgeRouteOidcModule, edgeRouteOAuthModule } = edgeModules;
    const edge = await edges.edgesHttps.create({});
    const route = await edges.edgesHttpsRoutes.create({ edgeId: edge.id, matchType: 'path_prefix', match: '/' });
    const at = { edgeId: edge.id, id: route.id };
    const webhook = await edgeRouteWebhookVerificationModule.replace({
      ...at,
      module: { provider: 'TWILIO', secret: 'for twilio' },
    });
    assert.deepEqual(webhook, { enabled: true, provider: 'TWILIO' });
    // A program that reads, changes and writes back keeps the secret.
    const off = await edgeRouteWebhookVerificationModule.replace({ ...at, module: { ...webhook, enabled: false } });
    assert.deepEqual(off, { enabled: false, provider: 'TWILIO' });
    await expectDeleted(edgeRouteWebhookVerificationModule.delete(at), () =>
      edgeRouteWebhookVerificationModule.get(at),
    );
    const client = { clientId: 'id', clientSecret: 'secret', scopes: ['openid', 'email'] };
    const times = { optionsPassthrough: true, cookiePrefix: 'a.', inactivityTimeout: 60, maximumDuration: 600 };
    const issuer = 'https://id.example.com';
    const signingIn = await edgeRouteOidcModule.replace({ ...at, module: { ...client, ...times, issuer } });
    assert.deepEqual({ ...signingIn, clientSecret: 'secret' }, { ...signingIn, ...client, ...times, issuer });
    const { clientSecret: _secret, ...again } = { ...client, ...times, issuer };
    // The types want the secret.
    const module = again as typeof client & typeof again;
    assert.deepEqual(await edgeRouteOidcModule.replace({ ...at, module }), signingIn);
    await expectDeleted(edgeRouteOidcModule.delete(at), () => edgeRouteOidcModule.get(at));
    const github = { ...client, scopes: [], emailAddresses: [], emailDomains: ['example.com'], teams: [] };
    const byName = {
      ...times,
      authCheckInterval: 300,
      provider: { github: { ...github, organizations: ['example'] } },
    };
    const named = await edgeRouteOAuthModule.replace({ ...at, module: byName });
    assert.deepEqual([named.cookiePrefix, named.authCheckInterval, named.provider.google], ['a.', 300, null]);
    assert.deepEqual(named.provider.github?.organizations, ['example']);
    assert.equal(named.provider.github?.clientSecret, undefined);
    const { provider } = named;
    assert.deepEqual(await edgeRouteOAuthModule.replace({ ...at, module: { ...byName, provider } }), named);
    await expectDeleted(edgeRouteOAuthModule.delete(at), () => edgeRouteOAuthModule.get(at));
    // Modules that are not served are refused, not dropped.
    const saml = await errorOf(edgeModules.edgeRouteSamlModule.get(at));
    assert.equal(saml.statusCode, 404);
  });

  test('works with certificate authorities and the TLS of HTTPS edges', async () => {
    await using world = await startWithClient(await newDatabase());
    const { certificateAuthorities, edges, edgeModules } = world.client;
    const { pem: caPem } = new ClientAuthority('staff');
    const authority = await certificateAuthorities.create({ caPem, description: 'd' });
    assert.deepEqual([authority.caPem, authority.subjectCommonName], [caPem, 'staff']);
    const renamed = await certificateAuthorities.update({ id: authority.id, description: 'e' });
    assert.deepEqual(renamed, { ...authority, description: 'e' });
    assert.deepEqual(await certificateAuthorities.list(), [renamed]);
    const { id } = await edges.edgesHttps.create({ hostports: ['app.example.com:443'] });
    const { httpsEdgeMutualTlsModule, httpsEdgeTlsTerminationModule } = edgeModules;
    const asking = { id, module: { certificateAuthorityIds: [authority.id] } };
    const asked = await httpsEdgeMutualTlsModule.replace(asking);
    assert.deepEqual(asked, { enabled: true, certificateAuthorities: [{ id: authority.id, uri: authority.uri }] });
    const ending = await httpsEdgeTlsTerminationModule.replace({ id, module: { minVersion: '1.3' } });
    assert.deepEqual(ending, { enabled: true, terminateAt: 'edge', minVersion: '1.3' });
    const whole = await edges.edgesHttps.get(id);
    assert.deepEqual([whole.mutualTls, whole.tlsTermination], [asked, ending]);
    assert.equal((await errorOf(certificateAuthorities.delete(authority.id))).statusCode, 409);
    await expectDeleted(httpsEdgeMutualTlsModule.delete(id), () => httpsEdgeMutualTlsModule.get(id));
    await expectDeleted(httpsEdgeTlsTerminationModule.delete(id), () => httpsEdgeTlsTerminationModule.get(id));
    await expectDeleted(certificateAuthorities.delete(authority.id), () => certificateAuthorities.get(authority.id));
  });

  test('works with backends that stand for others', async () => {
    await using world = await startWithClient(await newDatabase());
    const { failoverBackends, httpResponseBackends, weightedBackends } = world.client.backends;
    const fixed = await httpResponseBackends.create({
      body: 'closed',
      statusCode: 503,
      headers: headerMap({ 'retry-after': '60' }),
    });
    assert.deepEqual([fixed.body, fixed.statusCode], ['closed', 503]);
    const other = await httpResponseBackends.update({ id: fixed.id, body: 'open' });
    assert.deepEqual(other, { ...fixed, body: 'open' });
    const first = await makeBackend(world);
    const failover = await failoverBackends.create({ backends: [first.id, fixed.id] });
    assert.deepEqual(failover.backends, [first.id, fixed.id]);
    const turned = await failoverBackends.update({ id: failover.id, backends: [fixed.id, first.id] });
    assert.deepEqual((await failoverBackends.get(failover.id)).backends, turned.backends);
    // The client writes the keys of an object in another form, ids among them, and a Map as an empty object.
    const weighted = await world.gatehouse.create('/backends/weighted', { backends: { [failover.id]: 5 } });
    const described = await weightedBackends.update({ id: weighted.id, description: 'd', backends: new Map() });
    assert.equal(described.description, 'd');
    assert.deepEqual((await world.gatehouse.get(`/backends/weighted/${weighted.id}`)).body.backends, {
      [failover.id]: 5,
    });
    assert.deepEqual(
      (await weightedBackends.list()).map(({ id }) => id),
      [weighted.id],
    );
    assert.deepEqual(await failoverBackends.list(), [turned]);
    assert.deepEqual(await httpResponseBackends.list(), [other]);
    assert.equal((await errorOf(failoverBackends.delete(failover.id))).statusCode, 409);
    await expectDeleted(weightedBackends.delete(weighted.id), () => weightedBackends.get(weighted.id));
    await expectDeleted(failoverBackends.delete(failover.id), () => failoverBackends.get(failover.id));
    await expectDeleted(httpResponseBackends.delete(fixed.id), () => httpResponseBackends.get(fixed.id));
  });

  test('works with TLS certificates', async () => {
    await using world = await startWithClient(await newDatabase());
    const { tlsCertificates } = world.client;
    const { certificate, key } = makeCertificate('DNS:app.example.com');
    const created = await tlsCertificates.create({ certificatePem: certificate, privateKeyPem: key });
    assert.deepEqual([created.certificatePem, created.privateKeyType], [certificate, 'ecdsa']);
    assert.deepEqual(created.subjectAlternativeNames.dnsNames, ['app.example.com']);
    assert.deepEqual(await tlsCertificates.update({ id: created.id, description: 'd' }), {
      ...created,
      description: 'd',
    });
    assert.equal((await tlsCertificates.list()).length, 1);
    const swapped = await errorOf(tlsCertificates.create({ certificatePem: key, privateKeyPem: certificate }));
    assert.equal(swapped.errorCode, 'ERR_NGROK_1924');
    await expectDeleted(tlsCertificates.delete(created.id), () => tlsCertificates.get(created.id));
  });
});
