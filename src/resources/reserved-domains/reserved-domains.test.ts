import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makePair } from '../../../test/support/certificate-pair.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

const path = '/reserved_domains';
let counter = 0;
const newDomain = () => `name-${(counter += 1)}.reserved.test`;

onGatehousesInTurn('reserved domains', (g) => {
  const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
  const newCertificate = async (...names: readonly string[]) => {
    const altNames = names.map((name) => `DNS:${name}`).join(',');
    const pair = makePair('reserved', '-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${altNames}`);
    return g().create('/tls_certificates', pair);
  };

  test('one is created, read, listed, changed and deleted', async () => {
    const domain = newDomain();
    const body = { domain: domain.toUpperCase(), description: 'the shop', metadata: '{}', region: 'us' };
    const made = await g().create(path, body);
    assert.match(made.id, /^rd_[0-9A-Za-z]{27}$/);
    assert.deepEqual(made, {
      id: made.id,
      uri: `${g().url}${path}/${made.id}`,
      created_at: made.created_at,
      description: 'the shop',
      metadata: '{}',
      domain,
      region: 'us',
      cname_target: null,
      certificate: null,
      certificate_management_policy: null,
      certificate_management_status: null,
      acme_challenge_cname_target: null,
      resolves_to: [{ value: 'global' }],
    });
    assert.deepEqual((await g().get(`${path}/${made.id}`)).body, made);
    assert.ok((await g().get(path)).body.reserved_domains.some(({ id }: { id: string }) => id === made.id));
    const changed = await g().patch(`${path}/${made.id}`, { description: '' });
    assert.equal(changed.body.description, undefined);
    assert.equal(changed.body.metadata, '{}');
    assert.equal((await g().delete(`${path}/${made.id}`)).status, 204);
    await refuses(g(), ['GET', `${path}/${made.id}`], 404, 222);
  });

  test('the domain must be a host name, and cannot be changed', async () => {
    for (const domain of [
      '',
      'exa mple.com',
      'a.*.example.com',
      '*.com',
      '192.0.2.1',
      'https://example.com',
      'a.test:443',
    ]) {
      await refuses(g(), ['POST', path, { domain }], 400, 20052);
    }
    await refuses(g(), ['POST', path, {}], 400, 20052);
    const { id } = await g().create(path, { domain: newDomain() });
    await refuses(g(), ['PATCH', `${path}/${id}`, { domain: newDomain() }], 400, 20190);
  });

  test('a domain is reserved once in the installation, whoever asks, and so is what a wildcard covers', async () => {
    const stranger = await newStranger();
    const domain = newDomain();
    const { id } = await g().create(path, { domain });
    const again = await refuses(g(), ['POST', path, { domain }], 409, 413);
    assert.ok(again.includes(id), 'the own reservation is named');
    const foreign = await g().call('POST', path, { domain }, { token: stranger.token });
    assert.equal(foreign.status, 409);
    assert.ok(!foreign.text.includes(id), 'another account learns no id');
    const covering = await g().call('POST', path, { domain: '*.reserved.test' }, { token: stranger.token });
    assert.equal(covering.status, 409);

    await g().create(path, { domain: '*.covered.test' });
    const covered = await g().call('POST', path, { domain: 'a.covered.test' }, { token: stranger.token });
    assert.equal(covered.status, 409);
    await g().create(path, { domain: 'a.covered.test' });
    assert.equal((await g().call('POST', path, { domain: 'a.b.covered.test' }, { token: stranger.token })).status, 201);
  });

  test('an edge of another account can neither take a reserved name nor be reserved over', async () => {
    const stranger = await newStranger();
    const domain = newDomain();
    await g().create(path, { domain });
    const theirs = { hostports: [`${domain}:443`] };
    const refused = await g().call('POST', '/edges/https', theirs, { token: stranger.token });
    assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_20030');
    const edge = await g().create(
      '/edges/https',
      { hostports: ['theirs.elsewhere.test:443'] },
      { token: stranger.token },
    );
    await refuses(g(), ['POST', path, { domain: 'theirs.elsewhere.test' }], 409, 413);
    await refuses(g(), ['POST', path, { domain: '*.elsewhere.test' }], 409, 413);
    await g().delete(`/edges/https/${edge.id}`, { token: stranger.token });
    await g().create(path, { domain: 'theirs.elsewhere.test' });
  });

  test('a domain that an edge of the account has is not deleted before the edge lets it go', async () => {
    const domain = newDomain();
    const reserved = await g().create(path, { domain });
    const edge = await g().create('/edges/https', { hostports: [`${domain}:443`] });
    const text = await refuses(g(), ['DELETE', `${path}/${reserved.id}`], 409, 446);
    assert.ok(text.includes(edge.id));
    await g().delete(`/edges/https/${edge.id}`);
    assert.equal((await g().delete(`${path}/${reserved.id}`)).status, 204);
  });

  test('a certificate must be of the account and for the domain, and stays while it is named', async () => {
    const domain = newDomain();
    const fitting = await newCertificate('*.reserved.test');
    const other = await newCertificate('other.test');
    await refuses(g(), ['POST', path, { domain, certificate_id: 'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng' }], 400, 227);
    await refuses(g(), ['POST', path, { domain, certificate_id: 'cert_2tQzYDLwIVU45s8sSMNpRfQp1Ng' }], 400, 20053);
    await refuses(g(), ['POST', path, { domain, certificate_id: other.id }], 400, 20054);
    const made = await g().create(path, { domain, certificate_id: fitting.id });
    assert.deepEqual(made.certificate, { id: fitting.id, uri: fitting.uri });
    const inUse = await refuses(g(), ['DELETE', `/tls_certificates/${fitting.id}`], 409, 20051);
    assert.ok(inUse.includes(made.id));
    await refuses(g(), ['PATCH', `${path}/${made.id}`, { certificate_id: other.id }], 400, 20054);
    assert.deepEqual((await g().get(`${path}/${made.id}`)).body.certificate?.id, fitting.id);

    assert.equal((await g().delete(`${path}/${made.id}/certificate`)).status, 204);
    assert.equal((await g().delete(`${path}/${made.id}/certificate`)).status, 204);
    assert.equal((await g().get(`${path}/${made.id}`)).body.certificate, null);
    assert.equal((await g().delete(`/tls_certificates/${fitting.id}`)).status, 204);
  });

  test('an empty certificate_id takes the certificate away, as Terraform writes it', async () => {
    const certificate = await newCertificate('*.reserved.test');
    const { id } = await g().create(path, { domain: newDomain(), certificate_id: certificate.id });
    const kept = await g().patch(`${path}/${id}`, { description: 'kept' });
    assert.equal(kept.body.certificate?.id, certificate.id);
    const changed = await g().patch(`${path}/${id}`, { certificate_id: '' });
    assert.deepEqual([changed.status, changed.body.certificate], [200, null]);
    assert.equal((await g().delete(`/tls_certificates/${certificate.id}`)).status, 204);
  });

  test('a deleted reservation lets its certificate go', async () => {
    const certificate = await newCertificate('*.reserved.test');
    const { id } = await g().create(path, { domain: newDomain(), certificate_id: certificate.id });
    await g().delete(`${path}/${id}`);
    assert.equal((await g().delete(`/tls_certificates/${certificate.id}`)).status, 204);
  });

  test('automatic certificates and other points of presence are refused, with what to do', async () => {
    const domain = newDomain();
    const policy = { authority: 'letsencrypt', private_key_type: 'ecdsa' };
    const text = await refuses(g(), ['POST', path, { domain, certificate_management_policy: policy }], 400, 20055);
    assert.match(text, /POST \/tls_certificates/);
    await refuses(g(), ['POST', path, { domain, resolves_to: [{ value: 'eu' }] }], 400, 20056);
    const made = await g().create(path, {
      domain,
      certificate_management_policy: null,
      resolves_to: [{ value: 'global' }],
    });
    await refuses(g(), ['PATCH', `${path}/${made.id}`, { certificate_management_policy: {} }], 400, 20055);
  });
});
