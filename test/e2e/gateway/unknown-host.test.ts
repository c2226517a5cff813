import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

import type { Flags } from '../../../src/config/config.ts';
import { freePort } from '../../support/free-port.ts';
import { makePair } from '../../support/certificate-pair.ts';
import { someOf } from '../../support/sample.ts';
import { readExposition } from './support/prometheus.ts';
import { Site, siteHost } from './support/site.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';

/** The code by which a client knows why its handshake failed. */
async function handshakeFault(port: number, options: ConnectionOptions): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  const [error] = await Promise.race([once(socket, 'error'), once(socket, 'secureConnect').then(() => [undefined])]);
  socket.destroy();
  return error instanceof Error && 'code' in error ? String(error.code) : 'connected';
}

/** Workers cannot leave the choice of their port to the system. */
async function startSite(workers: string, settings: Flags = {}): Promise<Site> {
  return Site.start({ drainSeconds: '0', workers, httpsListen: `127.0.0.1:${await freePort()}`, ...settings });
}

for (const workers of someOf(['off', '2'], 1, 'workers', 'unknown-host')) {
  suite(`unknown hosts, ${workers === 'off' ? 'in one process' : 'with workers'}`, () => {
    test('get a TLS alert, a line in the log for each name, and a count', async () => {
      await using site = await startSite(workers);
      const { httpsPort: port, gatehouse } = site;
      const countOf = async (reason: string) =>
        readExposition(await site.metrics()).samples.get(`gatehouse_tls_handshakes_failed_total{reason="${reason}"}`);
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const options = { servername: 'nobody.example.com', minVersion: version, maxVersion: version };
        assert.equal(await handshakeFault(port, options), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
      }
      assert.equal(await handshakeFault(port, { servername: siteHost }), 'connected');
      assert.match(await handshakeFault(port, {}), /HANDSHAKE_FAILURE/);
      await until(async () => (await countOf('unknown_name')) === 2, 'both are counted');
      await until(async () => (await countOf('no_name')) === 1, 'the one without a name is counted');
      await until(() => gatehouse.logLines.some((line) => line.includes('named no server')), 'the last one is logged');
      const lines = gatehouse.logLines.filter((line) => line.includes('"host":"nobody.example.com"'));
      assert.equal(lines.length, 1, 'one line a minute for each name');
      assert.match(lines[0] ?? '', /no edge has this host name/);
    });

    test('are told from public names of edges that have no certificate, which are refused if the setting says so', async () => {
      await using site = await startSite(workers, { certificateFallback: 'refuse' });
      const { httpsPort: port, gatehouse } = site;
      const name = 'shop.gatehouse-app.net';
      await gatehouse.create('/edges/https', { hostports: [`${name}:443`] });
      assert.equal(await handshakeFault(port, { servername: name }), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
      assert.equal(await handshakeFault(port, { servername: siteHost }), 'connected', 'it cannot be public');
      await until(async () => {
        const { samples } = readExposition(await site.metrics());
        return samples.get('gatehouse_tls_handshakes_failed_total{reason="no_certificate"}') === 1;
      }, 'it is counted');
      const logged = () => gatehouse.logLines.filter((line) => line.includes(`"host":"${name}"`));
      await until(() => logged().length > 0, 'it is logged');
      const lines = logged();
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', /GATEHOUSE_CERTIFICATE_FALLBACK=refuse: .*upload one with POST \/tls_certificates/);
      const names = ['-subj', '/CN=uploaded', '-addext', `subjectAltName=DNS:${name}`, '-days', '5'];
      await gatehouse.create('/tls_certificates', makePair(`refused-${workers}`, ...names));
      assert.equal(await handshakeFault(port, { servername: name }), 'connected');
    });

    test('get a page with code 3200 where a certificate was uploaded for the name, and a line in the log', async () => {
      await using site = await startSite(workers);
      const names = ['-subj', '/CN=uploaded', '-addext', 'subjectAltName=DNS:*.covered.test', '-days', '5'];
      await site.gatehouse.create('/tls_certificates', makePair(`covered-${workers}`, ...names));
      const { status, headers } = await askHttps(site.httpsPort, 'nobody.covered.test');
      assert.deepEqual([status, headers?.['gatehouse-error-code']], [404, 'ERR_GATEHOUSE_3200']);
      await until(
        async () => site.gatehouse.logLines.some((line) => /nobody\.covered\.test.*no edge has this host/.test(line)),
        'it is logged',
      );
    });
  });
}

test('HTTP without TLS is answered on the HTTPS port, and counted', async () => {
  await using site = await Site.start({ drainSeconds: '0' });
  const response = await fetch(`http://127.0.0.1:${site.httpsPort}/`, { headers: { host: siteHost } });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /This is an HTTPS port.*https:\/\//);
  const counted = 'gatehouse_tls_handshakes_failed_total{reason="plain_http"}';
  await until(async () => readExposition(await site.metrics()).samples.get(counted) === 1, 'it is counted');
});
