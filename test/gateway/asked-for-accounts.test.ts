import assert from 'node:assert/strict';
import { test } from 'node:test';

import { oidc } from '../../src/modules/oidc/index.ts';
import { useRequestHosts } from '../../src/modules/request-hosts.ts';
import { get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { policyOf } from './support/policies.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

/** A link-local address: that nobody is asked there is told at once, with whom it was for. */
const inward = 'https://169.254.1.1';

const hostOf = (accountId: string) => `${accountId.replace('_', '')}.test`;

test('issuers, providers and servers of rules are asked on behalf of the account whose route needs them', async () => {
  using _ = useRequestHosts(['169.254.1.1']);
  await using issuer = await TokenIssuer.start('a');
  const token = await issuer.token({ iss: inward });
  const modules = {
    '/token': {
      jwt_validation: {
        enabled: true,
        issuer: inward,
        audiences: [audience],
        algorithms: ['ES256'],
        jwks_uri: '',
        clock_skew: 0,
        header: 'authorization',
        claims: {},
      },
    },
    '/login': {
      oidc: { ...oidc.accept({ issuer: inward, client_id: 'c', client_secret: 's' }), client_secret: 's' },
    },
    '/rule': trafficPolicy(policyOf('http-request', { url: `${inward}/check` })),
  };
  const accounts = ['acc_1', 'acc_2'];
  const routes = Object.entries(modules).map(([path, each]) => prefixRoute(path, { ...toBackend('b'), ...each }));
  await using gateway = await startGateway([
    backendEntry('b', 9),
    ...accounts.map((account) => edgeEntry(account, [hostOf(account)], routes, account)),
  ]);
  assert.deepEqual([...gateway.setAside], []);
  const seen: string[] = [];
  for (const account of accounts)
    for (const path of Object.keys(modules)) {
      const headers = [`Authorization: Bearer ${token}`, 'Accept: text/html'];
      await sendRaw(gateway.port, get(path, `Host: ${hostOf(account)}`, ...headers), { servername: hostOf(account) });
      const [event, ...more] = gateway.inwardRefused.splice(0);
      assert.deepEqual(more, []);
      seen.push(`${path} ${event?.accountId} ${event?.backendId}`);
    }
  assert.deepEqual(
    seen,
    accounts.flatMap((account) => [
      `/token ${account} sign-in`,
      `/login ${account} sign-in`,
      `/rule ${account} http-request`,
    ]),
  );
});
