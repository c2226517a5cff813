import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { request } from 'node:https';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { ClientAuthority } from '../../support/client-certificates.ts';
import type { ClientPair } from '../../support/client-certificates.ts';
import { refuses } from '../../support/refusals.ts';
import { Site, siteHost } from './support/site.ts';

const run = promisify(execFile);
const staff = new ClientAuthority('staff');
const foreign = new ClientAuthority('foreign');
const ada = staff.sign('ada');
const stranger = foreign.sign('stranger');

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** TLS of HTTPS edges, set over the API, with real handshakes. */
suite('TLS of edges', () => {
  let site: Site;
  let edge: string;
  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
    edge = `/edges/https/${site.edgeId}`;
  });
  after(() => site[Symbol.asyncDispose]());

  /** The headers are those that the upstream got. */
  const visit = (pair?: ClientPair, headers: Readonly<Record<string, string>> = {}): Promise<Answered> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const options = { host: '127.0.0.1', port: site.httpsPort, servername: siteHost, rejectUnauthorized: false };
    request({ ...options, agent: false, ...pair, headers: { host: siteHost, ...headers } }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: status === 200 ? JSON.parse(text).headers : {} });
      });
    })
      .on('error', reject)
      .end();
    return promise;
  };
  const newAuthority = async (authority: ClientAuthority): Promise<string> =>
    (await site.gatehouse.create('/certificate_authorities', { ca_pem: authority.pem })).id;

  test('an authority is shown with what its certificate says, and stays while an edge names it', async () => {
    const { gatehouse } = site;
    const made = await gatehouse.create('/certificate_authorities', { description: 'd', ca_pem: staff.pem });
    assert.match(made.id, /^ca_[0-9A-Za-z]{27}$/);
    assert.deepEqual([made.ca_pem, made.subject_common_name, made.key_usages], [staff.pem, 'staff', ['cert_sign']]);
    assert.ok(Date.parse(made.not_before) < Date.parse(made.not_after));
    const path = `/certificate_authorities/${made.id}`;
    assert.equal((await gatehouse.patch(path, { description: 'e' })).body.description, 'e');
    for (const ca_pem of ['', 'x', ada.cert, ada.key])
      await refuses(gatehouse, ['POST', '/certificate_authorities', { ca_pem }], 400, 20183);
    const module = { certificate_authority_ids: [made.id] };
    const shown = (await gatehouse.put(`${edge}/mutual_tls`, module)).body;
    assert.deepEqual(shown, {
      enabled: true,
      certificate_authorities: [{ id: made.id, uri: `${gatehouse.url}/certificate_authorities/${made.id}` }],
    });
    assert.deepEqual((await gatehouse.get(edge)).body.mutual_tls, shown);
    assert.ok((await refuses(gatehouse, ['DELETE', path], 409, 20298)).includes(site.edgeId));
    await refuses(gatehouse, ['PUT', `${edge}/mutual_tls`, {}], 400, 20295);
    await refuses(gatehouse, ['PUT', `${edge}/mutual_tls`, { certificate_authority_ids: ['ipp_x'] }], 400, 20296);
    await refuses(gatehouse, ['PUT', `${edge}/mutual_tls`, { certificate_authority_ids: ['ca_gone'] }], 400, 20297);
    assert.equal((await gatehouse.delete(`${edge}/mutual_tls`)).status, 204);
    assert.equal((await gatehouse.delete(path)).status, 204);
  });

  test('only visitors with a certificate of the authority get in, and the upstream learns who they are', async () => {
    const { gatehouse } = site;
    const id = await newAuthority(staff);
    assert.equal((await visit()).status, 200);
    await gatehouse.put(`${edge}/mutual_tls`, { certificate_authority_ids: [id] });
    assert.deepEqual([(await visit()).status, (await visit(stranger)).status], [403, 403]);
    const forged = {
      'x-client-cert-subject': 'CN=root',
      x_client_cert_subject: 'CN=root',
      'X-Client-Cert-Fingerprint': '00',
      'client-cert': ':AA==:',
    };
    const { status, headers } = await visit(ada, forged);
    assert.deepEqual([status, headers['x-client-cert-subject']], [200, 'CN=ada']);
    assert.match(headers['x-client-cert-fingerprint'] ?? '', /^[0-9a-f]{64}$/);
    assert.match(headers['x-client-cert-serial'] ?? '', /^[0-9a-f]+$/);
    assert.deepEqual([headers['x_client_cert_subject'], headers['client-cert']], [undefined, undefined]);
    const { explanation } = (await gatehouse.post('/ip_check', { ip: '127.0.0.1', route_id: site.routeId })).body;
    assert.match(explanation, /Then a visitor needs a certificate of .+ \(mutual_tls\)\.$/);
    await gatehouse.put(`${edge}/mutual_tls`, { enabled: false, certificate_authority_ids: [id] });
    const open = await visit(undefined, forged);
    assert.deepEqual([open.status, open.headers['x-client-cert-subject']], [200, undefined], 'nobody can say it');
    await gatehouse.delete(`${edge}/mutual_tls`);
  });

  test('OpenSSL gets no connection below the version of the edge, and one above', async () => {
    const { gatehouse } = site;
    const { body } = await gatehouse.put(`${edge}/tls_termination`, { min_version: '1.3' });
    assert.deepEqual(body, { enabled: true, terminate_at: 'edge', min_version: '1.3' });
    const handshake = (version: string) => {
      const args = ['s_client', '-connect', `127.0.0.1:${site.httpsPort}`, '-servername', siteHost, `-${version}`];
      const asking = run('openssl', args);
      asking.child.stdin?.end();
      return asking;
    };
    await assert.rejects(handshake('tls1_2'), /protocol version/);
    assert.match((await handshake('tls1_3')).stdout, /TLSv1.3/);
    await gatehouse.put(`${edge}/tls_termination`, {});
    assert.match((await handshake('tls1_2')).stdout, /TLSv1.2/);
    assert.equal((await gatehouse.get(edge)).body.tls_termination.min_version, null);
    await gatehouse.delete(`${edge}/tls_termination`);
    assert.equal((await gatehouse.get(edge)).body.tls_termination, null);
  });

  test('files hold authorities, and edges that name them', async () => {
    const { gatehouse } = site;
    const entries = [
      {
        kind: 'https_edges',
        name: 'guarded',
        hostports: ['guarded.site.test:443'],
        mutual_tls: { certificate_authorities: ['visitors'] },
        tls_termination: { min_version: '1.3' },
      },
      { kind: 'certificate_authorities', name: 'visitors', ca_pem: `a note\n${foreign.pem}` },
    ];
    const apply = async (query = '') => (await gatehouse.post(`/configuration${query}`, entries)).body;
    assert.equal((await apply()).created, 2);
    assert.equal((await apply()).unchanged, 2);
    const exported = (await gatehouse.get('/configuration')).body.entries;
    const named = (name: string) => exported.find((entry: { readonly name: string }) => entry.name === name);
    assert.equal(named('visitors').ca_pem, foreign.pem);
    assert.deepEqual(named('guarded').mutual_tls, { certificate_authorities: ['visitors'] });
  });
});
