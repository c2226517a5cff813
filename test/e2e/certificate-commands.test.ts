import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { makePair } from '../support/certificate-pair.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';

const token = 'the-token-of-certificates-0123456789abcdef';

onAnyDatabase('gatehouse certificates list', (newDatabase) => {
  let server: GatehouseProcess;
  const run = (...args: readonly string[]) =>
    GatehouseProcess.run(['certificates', 'list', ...args], { GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: token });
  const create = async (path: string, body: object) => {
    const response = await server.call('POST', path, token, body);
    const shown = (await response.json()) as { readonly id: string };
    assert.equal(response.status, 201, JSON.stringify(shown));
    return shown.id;
  };
  const upload = (name: string, days: number) =>
    create(
      '/tls_certificates',
      makePair(name, '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', String(days)),
    );

  before(async () => {
    server = await GatehouseProcess.serve(await newDatabase(), ['--role', 'api', '--bootstrap-token', token]);
  });
  after(() => server[Symbol.asyncDispose]());

  test('is quiet where every public name has a certificate', async () => {
    const id = await upload('*.shop.made-up.net', 300);
    await create('/edges/https', { hostports: ['www.shop.made-up.net:443', 'inner.localhost:443'] });
    const { code, out, errors } = await run('--exit-code');
    assert.equal(code, 0, errors);
    const rows = JSON.parse(out);
    assert.deepEqual(
      rows.map(({ names, state, id: of, remedy }: Record<string, unknown>) => [names, state, of, remedy]),
      [[['*.shop.made-up.net'], 'valid', id, undefined]],
    );
  });

  test('names what is wrong, and what to do', async () => {
    const soon = await upload('soon.made-up.net', 3);
    const edge = await create('/edges/https', { hostports: ['bare.made-up.net:443', 'soon.made-up.net:443'] });
    const { code, out, errors } = await run('--exit-code', '--output', 'table');
    assert.equal(code, 2, errors);
    assert.match(out, new RegExp(`^soon\\.made-up\\.net +ends soon .*${soon}`, 'm'));
    assert.match(out, new RegExp(`^bare\\.made-up\\.net +none +.*${edge}`, 'm'));
    const rows: readonly Record<string, string>[] = JSON.parse((await run('--output', 'json')).out);
    assert.match(rows.find(({ id }) => id === soon)?.['remedy'] ?? '', /upload a new certificate/);
    assert.match(rows.find(({ id }) => id === edge)?.['remedy'] ?? '', /GATEHOUSE_ACME=on/);
    const shown = await GatehouseProcess.run(['tls-certificates', 'get', soon], {
      GATEHOUSE_URL: server.url,
      GATEHOUSE_TOKEN: token,
    });
    assert.match(shown.errors, /^warning: \S+ ends \S+; upload a new certificate$/m);
  });

  test('with ACME on, nobody is told to switch it on', async () => {
    const acme = ['--acme', 'on', '--acme-directory', 'http://127.0.0.1:9/directory', '--acme-orders-per-hour', '1'];
    await using ordering = await GatehouseProcess.serve(await newDatabase(), [
      '--bootstrap-token',
      token,
      '--role',
      'api',
      ...acme,
    ]);
    const hostports = ['one.made-up.net:443', '*.many.made-up.net:443'];
    assert.equal((await ordering.call('POST', '/edges/https', token, { hostports })).status, 201);
    const listed = await GatehouseProcess.run(['certificates', 'list', '-o', 'json'], {
      GATEHOUSE_URL: ordering.url,
      GATEHOUSE_TOKEN: token,
    });
    assert.equal(listed.code, 0, listed.errors);
    assert.doesNotMatch(listed.out, /GATEHOUSE_ACME=on/);
  });
});
