import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:https';
import { after, before, test } from 'node:test';

import fc from 'fast-check';

import { makePair } from '../../support/certificate-pair.ts';
import { ClientAuthority } from '../../support/client-certificates.ts';
import type { ClientPair } from '../../support/client-certificates.ts';
import { rounds } from '../../support/long-form.ts';
import { Site } from './support/site.ts';

const staff = new ClientAuthority('staff');
const foreign = new ClientAuthority('foreign');
const pairs: Readonly<Record<string, ClientPair>> = { staff: staff.sign('ada'), foreign: foreign.sign('eve') };
const own = makePair('explained', '-subj', '/CN=passed on', '-addext', 'subjectAltName=DNS:*.site.test');
const passedOn = createServer({ cert: own.certificate_pem, key: own.private_key_pem }, (_, response) => {
  response.end('passed on');
});

/** A site, the policies and authorities that edges name, and a backend that ends TLS itself. */
let site: Site;
let policies: { readonly office: string; readonly nobody: string };
let authorities: Readonly<Record<string, string>>;
let passedOnId: string;
before(async () => {
  site = await Site.start({ drainSeconds: '0' });
  const { gatehouse } = site;
  policies = {
    office: await site.policy('127.0.0.2/31', '!127.0.0.3/32', '::1/128'),
    nobody: await site.policy('10.0.0.0/8'),
  };
  const idOf = async ({ pem: ca_pem }: ClientAuthority): Promise<string> =>
    (await gatehouse.create('/certificate_authorities', { ca_pem })).id;
  authorities = { staff: await idOf(staff), foreign: await idOf(foreign) };
  passedOn.listen(0, '127.0.0.1');
  await once(passedOn, 'listening');
  const address = passedOn.address();
  const port = typeof address === 'object' && address !== null ? address.port : assert.fail();
  passedOnId = (await gatehouse.create('/backends/static', { address: `127.0.0.1:${port}` })).id;
});
after(async () => {
  await site[Symbol.asyncDispose]();
  passedOn.close();
});

const sources = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1'] as const;
const option = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });
const shared = {
  ip_restriction: option(fc.record({ isEnabled: fc.boolean(), isOffice: fc.boolean() })),
  rate_limit: option(fc.boolean()),
  restriction: option(fc.record({ enforced: fc.boolean(), isOffice: fc.boolean() })),
};
const ended = fc.record({ min_version: option(fc.constantFrom('1.2', '1.3')), mutual_tls: option(fc.boolean()) });
/** Certificate that a visitor is described with, and shows: without a word of it nobody knows, and it shows none. */
const shown = option(fc.constantFrom('none', 'staff', 'foreign'));

type Ended = { readonly min_version: string | undefined; readonly mutual_tls: boolean | undefined } | undefined;

interface Shared {
  readonly ip_restriction: { readonly isEnabled: boolean; readonly isOffice: boolean } | undefined;
  readonly rate_limit: boolean | undefined;
  readonly restriction: { readonly enforced: boolean; readonly isOffice: boolean } | undefined;
}

function sharedModules({ ip_restriction: ip, rate_limit: enforced }: Shared) {
  const ip_policy_ids = [ip?.isOffice === true ? policies.office : policies.nobody];
  return {
    ip_restriction: ip === undefined ? null : { enabled: ip.isEnabled, ip_policy_ids },
    rate_limit: enforced === undefined ? null : { limit: 1e6, window_seconds: 86_400, enforced },
  };
}

function tlsModules(end: Ended) {
  return {
    tls_termination: end === undefined ? null : { terminate_at: 'edge', min_version: end.min_version },
    mutual_tls:
      end?.mutual_tls === undefined
        ? null
        : { enabled: end.mutual_tls, certificate_authority_ids: [authorities['staff']] },
  };
}

/** The certificate as a visitor is described with it. */
function describedAs(name: string | undefined) {
  const authority_id = name === undefined ? undefined : authorities[name];
  return name === undefined ? undefined : authority_id === undefined ? {} : { authority_id };
}

async function restricted<T>({ restriction }: Shared, run: () => Promise<T>): Promise<T> {
  if (restriction === undefined) return run();
  const { enforced, isOffice } = restriction;
  const { id } = await site.restrict(enforced, isOffice ? policies.office : policies.nobody);
  try {
    return await run();
  } finally {
    await site.gatehouse.delete(`/ip_restrictions/${id}`);
  }
}

/** True where the edge has answered. Whom it refuses, it resets or gives no handshake. */
async function getsIn(asking: Promise<unknown>): Promise<boolean> {
  return asking.then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      assert.match(`${error.code}`, /^(?:ECONNRESET|EPIPE|EPROTO|ERR_SSL_|ERR_TLS_)/, error.message);
      return false;
    },
  );
}

/** Returns the status of the answer. */
function askTls(servername: string, from: string, pair: ClientPair | undefined, version: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const to = from.includes(':') ? '::1' : '127.0.0.1';
  const headers = { host: servername };
  const tls = { servername, headers, rejectUnauthorized: false, maxVersion: version as 'TLSv1.2', ...pair };
  request({ host: to, port: site.httpsPort, localAddress: from, agent: false, ...tls }, (response) => {
    const { statusCode = 0 } = response;
    response
      .resume()
      .on('end', () => resolve(statusCode))
      .on('error', reject);
  })
    .on('error', reject)
    .end();
  return promise;
}

test('POST /ip_check tells whom a TCP edge lets in, whatever its modules are', async () => {
  const rule = { expressions: ["conn.client_ip == '127.0.0.1'"], actions: [{ type: 'deny' }] };
  const policy = { value: JSON.stringify({ on_tcp_connect: [rule] }) };
  const property = fc.asyncProperty(fc.record(shared), fc.boolean(), async (given, hasPolicy) => {
    const edge = `/edges/tcp/${site.tcpEdgeId}`;
    const modules = { ...sharedModules(given), traffic_policy: hasPolicy ? policy : null };
    const patched = await site.gatehouse.patch(edge, modules);
    assert.equal(patched.status, 200);
    await restricted(given, async () => {
      for (const ip of sources) {
        const { body: told } = await site.gatehouse.post('/ip_check', { ip, edge_id: site.tcpEdgeId });
        assert.equal(await getsIn(site.askTcp({ from: ip })), told.allowed, `${ip}: ${told.explanation}`);
      }
    });
  });
  await fc.assert(property, { numRuns: rounds(50, 1000), seed: 43 });
});

let number = 0;

test('POST /ip_check tells whom a TLS edge lets in, whatever its modules are and whatever the visitor shows', async () => {
  const versions = fc.constantFrom('TLSv1.2', 'TLSv1.3');
  const property = fc.asyncProperty(
    fc.record(shared),
    option(ended),
    shown,
    versions,
    async (given, end, name, tls) => {
      const host = `case-${(number += 1)}.site.test`;
      const modules = { ...sharedModules(given), ...tlsModules(end) };
      const { id } = await site.gatehouse.create('/edges/tls', {
        hostports: [`${host}:443`],
        backend: { backend_id: end === undefined ? passedOnId : site.backendId },
        ...modules,
      });
      const certificate = describedAs(name);
      await restricted(given, async () => {
        for (const ip of sources) {
          const { body: told } = await site.gatehouse.post('/ip_check', { ip, edge_id: id, certificate });
          const asked = told.further_checks.filter(({ asks }: { asks: string | null }) => asks !== null);
          const isByVersion = told.further_checks.some(
            ({ module }: { module: string }) => module === 'tls_termination',
          );
          assert.equal(isByVersion, end?.min_version === '1.3', told.explanation);
          const mayEnter = told.allowed && asked.length === 0 && !(isByVersion && tls === 'TLSv1.2');
          const words = `${ip}, ${tls}, ${name}, ${JSON.stringify(modules)}: ${told.explanation}`;
          assert.equal(await getsIn(askTls(host, ip, pairs[name ?? ''], tls)), mayEnter, words);
        }
      });
      await site.gatehouse.delete(`/edges/tls/${id}`);
    },
  );
  await fc.assert(property, { numRuns: rounds(50, 1000), seed: 43 });
});

test('POST /ip_check tells whom an HTTPS edge lets in by TLS, whatever it asks for and whatever the visitor shows', async () => {
  const versions = fc.constantFrom('TLSv1.2', 'TLSv1.3');
  const property = fc.asyncProperty(
    fc.record(shared),
    option(ended),
    shown,
    versions,
    async (given, end, name, tls) => {
      const host = `case-${(number += 1)}.site.test`;
      const { gatehouse, backendId } = site;
      const { id } = await gatehouse.create('/edges/https', { hostports: [`${host}:443`], ...tlsModules(end) });
      const route = await gatehouse.create(`/edges/https/${id}/routes`, {
        match_type: 'path_prefix',
        match: '/',
        backend: { backend_id: backendId },
        ...sharedModules(given),
      });
      await restricted(given, async () => {
        for (const ip of sources) {
          const described = { ip, route_id: route.id, certificate: describedAs(name) };
          const { body: told } = await gatehouse.post('/ip_check', described);
          const asked = told.further_checks.filter(({ asks }: { asks: string | null }) => asks !== null);
          const mayEnter = told.allowed && asked.length === 0 && !(end?.min_version === '1.3' && tls === 'TLSv1.2');
          const words = `${ip}, ${tls}, ${name}, ${JSON.stringify([given, end])}: ${told.explanation}`;
          const answer = await askTls(host, ip, pairs[name ?? ''], tls).catch((error: NodeJS.ErrnoException) => {
            // It is the handshake that fails for want of the version.
            assert.match(`${error.code}`, /^(?:ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION|ECONNRESET|EPROTO)$/, words);
            return 0;
          });
          assert.equal(answer === 200, mayEnter, `${answer}: ${words}`);
        }
      });
      await gatehouse.delete(`/edges/https/${id}`);
    },
  );
  await fc.assert(property, { numRuns: rounds(50, 1000), seed: 43 });
});
