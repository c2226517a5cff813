import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeExpired, makePair } from '../../../test/support/certificate-pair.ts';
import { onAnyDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { issuedCertificates } from './service.ts';

const path = '/tls_certificates';
const long = makePair('ends-late', '-subj', '/CN=late.test', '-days', '300');
const soon = makePair('ends-soon', '-subj', '/CN=soon.test', '-days', '29');
const ended = makeExpired('ends-soon', soon);

const settings = { metricsListen: '127.0.0.1:0' };

async function metricsOf({ app }: Gatehouse): Promise<string> {
  return (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text();
}

onAnyDatabase('certificates that end soon', (newDatabase) => {
  test('are named in a header, in the metrics and in the log, and others are not', async () => {
    const url = await newDatabase();
    const made: Record<string, { readonly id: string; readonly not_after: string }> = {};
    {
      await using first = await Gatehouse.start(url, settings);
      for (const [name, pair] of Object.entries({ long, soon, ended })) {
        const created = await first.post(path, pair);
        const { body } = created;
        const expected = name === 'long' ? null : `${body.id} ends ${body.not_after}; upload a new certificate`;
        assert.equal(created.headers.get('gatehouse-warning'), expected, name);
        const one = `${path}/${body.id}`;
        assert.equal((await first.get(one)).headers.get('gatehouse-warning'), expected, name);
        const patched = await first.patch(one, { description: 'x' });
        assert.equal(patched.headers.get('gatehouse-warning'), expected, name);
        made[name] = body;
      }
      assert.equal((await first.get(path)).headers.get('gatehouse-warning'), null);
      const text = await metricsOf(first);
      for (const { id, not_after } of Object.values(made)) {
        const line = `gatehouse_certificate_not_after_seconds{certificate="${id}"} ${Date.parse(not_after) / 1000}`;
        assert.ok(text.includes(line), line);
      }
      const gone = (await first.create(path, long)).id;
      await first.delete(`${path}/${gone}`);
      assert.ok(!(await metricsOf(first)).includes(gone));
    }
    await using second = await Gatehouse.start(url, settings);
    const lines = second.logLines.filter((line) => line.includes('certificate_id'));
    const logged = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      logged.map(({ level, certificate_id: id }) => [level, id]),
      [
        [40, made['ended']?.id],
        [40, made['soon']?.id],
      ],
    );
    assert.match(logged[0].msg, /has ended: upload a new one/);
    assert.match(logged[1].msg, /ends soon: upload a new one/);
    assert.equal(logged[1].days_left, 28);
  });

  test('are, if the authority issued them, those that should have been renewed long ago', async () => {
    const url = await newDatabase();
    const ids: string[] = [];
    {
      await using first = await Gatehouse.start(url);
      const { store, services } = first.app.context;
      const [row] = await store.queries.all('SELECT id FROM accounts');
      const accountId = String(row?.[0]);
      for (const { certificate_pem, private_key_pem } of [soon, ended]) {
        const pair = { certificatePem: certificate_pem, privateKeyPem: private_key_pem };
        const actor = { id: 'host', accountId, operationId: 'op_1' };
        ids.push(await store.write(actor, (tx) => services.get(issuedCertificates).add(tx, accountId, pair)));
      }
    }
    const [renewed = '', overdue = ''] = ids;
    await using gatehouse = await Gatehouse.start(url, settings);
    const warningOf = async (id: string) => (await gatehouse.get(`${path}/${id}`)).headers.get('gatehouse-warning');
    assert.equal(await warningOf(renewed), null);
    assert.match(
      (await warningOf(overdue)) ?? '',
      /^cert_\w+ ends \S+ and was not renewed; answers that show its edge/,
    );
    const text = await metricsOf(gatehouse);
    assert.ok(text.includes(`gatehouse_certificate_ends_soon{certificate="${overdue}",source="issued"} 1`));
    assert.ok(!text.includes(`gatehouse_certificate_ends_soon{certificate="${renewed}"`));
    const lines = gatehouse.logLines.filter((line) => line.includes('certificate_id'));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', new RegExp(`${overdue}.*has ended and was not renewed: look for`));
  });
});
