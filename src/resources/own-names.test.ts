import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onAnyDatabase } from '../../test/support/each-database.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../test/support/people.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onAnyGatehouse } from '../../test/support/shared-gatehouse.ts';
import { SmallAuthority } from '../../test/support/small-authority.ts';
import { nameOfInstallation, wildcardOverSuffix } from '../errors/shared.ts';

const settings = {
  publicUrl: 'https://gate.example.com:8443/api',
  agentDomain: 'tunnel.example.net',
  ownNames: 'vpn.example.org, *.Corp.example.org',
};
const owned = [
  'localhost',
  'GATE.example.com',
  '*.example.com',
  'tunnel.example.net',
  '*.tunnel.example.net',
  '*.example.net',
  'vpn.example.org',
  '*.example.org',
  'mail.corp.example.org',
  '*.corp.example.org',
];
const tooWide = ['*.co.uk', '*.github.io', '*.kawasaki.jp', '*.x.kawasaki.jp', '*.s3.amazonaws.com'];
const free = [
  'app.localhost',
  'www.example.com',
  '*.apps.example.com',
  'shop.tunnel.example.net',
  '*.shop.tunnel.example.net',
  'a.mail.corp.example.org',
  'corp.example.org',
  'co.uk',
  '*.example.co.uk',
  '*.me.github.io',
  'me.github.io',
];

onAnyGatehouse(
  'names of the installation',
  (g) => {
    test('belong to no account, neither as edges nor reserved, and the answer says which they are', async () => {
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      for (const caller of [{}, { token }])
        for (const name of owned) {
          const edge = await refuses(
            g(),
            ['POST', '/edges/https', { hostports: [`${name}:443`] }, caller],
            409,
            nameOfInstallation.code,
          );
          assert.ok(edge.includes(name.toLowerCase()) && edge.includes('gate.example.com'), edge);
          await refuses(g(), ['POST', '/reserved_domains', { domain: name }, caller], 409, nameOfInstallation.code);
        }
      const entries = [{ kind: 'reserved_domains', name: 'own', domain: 'gate.example.com' }];
      await refuses(g(), ['POST', '/configuration', entries], 409, nameOfInstallation.code);
      assert.deepEqual((await g().get('/edges/https')).body.https_edges, []);
    });

    test('wildcards over a public suffix are for nobody', async () => {
      for (const name of tooWide) {
        const hostports = [`${name}:443`];
        await refuses(g(), ['POST', '/edges/https', { hostports }], 400, wildcardOverSuffix.code);
        await refuses(g(), ['POST', '/reserved_domains', { domain: name }], 400, wildcardOverSuffix.code);
      }
    });

    test('all others are free, also below the domain of agents', async () => {
      for (const name of free) {
        assert.equal((await g().post('/reserved_domains', { domain: name })).status, 201, name);
        const edge = await g().post('/edges/https', { hostports: [`${name}:443`] });
        assert.equal(edge.status, 201, name);
        const hostports = ['gate.example.com:443'];
        await refuses(g(), ['PATCH', `/edges/https/${edge.body.id}`, { hostports }], 409, nameOfInstallation.code);
      }
    });
  },
  settings,
);

onAnyDatabase(
  'a name that an account has from before and that belongs to the installation',
  (_newDatabase, newEmpty) => {
    test('is kept and reported at the start, and gets no certificate of the authority', async () => {
      const url = await newEmpty();
      const edge = { hostports: ['old.gatehouse-app.net:443', 'fine.gatehouse-app.net:443'] };
      let id = '';
      {
        await using gatehouse = await Gatehouse.start(url);
        ({ id } = await gatehouse.create('/edges/https', edge));
        await gatehouse.create('/reserved_domains', { domain: '*.below.gatehouse-app.net' });
        assert.ok(!gatehouse.logLines.join('').includes('belong to accounts'));
      }
      using authority = await SmallAuthority.start();
      const names = 'old.gatehouse-app.net,*.below.gatehouse-app.net';
      const acme = { acme: 'on', acmeDirectory: authority.directory, acmeDnsHook: '/bin/true' };
      await using gatehouse = await Gatehouse.start(url, { ownNames: names, ...acme });
      const logged = gatehouse.logLines.find((line) => line.includes('belong to accounts')) ?? '';
      assert.ok(logged.includes(`old.gatehouse-app.net (${id})`), logged);
      assert.match(logged, /\*\.below\.gatehouse-app\.net \(rd_\w+\)/);
      assert.ok(!logged.includes('fine.'), logged);

      const read = await gatehouse.get(`/edges/https/${id}`);
      assert.deepEqual(read.body.hostports, edge.hostports);
      assert.match(read.headers.get('gatehouse-warning') ?? '', /old\.gatehouse-app\.net gets no certificate/);
      const changes = [{ description: 'kept' }, { hostports: edge.hostports.toReversed() }];
      for (const change of changes) assert.equal((await gatehouse.patch(`/edges/https/${id}`, change)).status, 200);
      const jobs = async () => gatehouse.app.context.store.queries.all('SELECT id FROM acme_jobs');
      await until(async () => (await jobs()).length > 0, 'the other name is ordered');
      assert.doesNotMatch(JSON.stringify(await jobs()), /old\.|below\./);
    });
  },
);
