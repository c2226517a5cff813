import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { readProcesses, removeProcess } from '../../../src/resources/processes/table.ts';
import { freePort } from '../../support/free-port.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { readExposition } from './support/prometheus.ts';
import { newSqlite } from '../../support/scratch.ts';
import { until } from './support/until.ts';

/** Returns all that comes back for the request. */
async function send(port: number, request: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port }).on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk))).write(request);
  await new Promise((resolve) => socket.on('close', resolve));
  return text;
}

for (const workers of ['1', '2']) {
  for (const listener of ['API', 'metrics'] as const) {
    test(`with ${workers} workers, a connection of the gateway that arrives at the ${listener} is reset`, async () => {
      const settings = { workers, metricsListen: '127.0.0.1:0', tcpPorts: '10000-32767' };
      await using gatehouse = await Gatehouse.start(newSqlite(), settings);
      const { app } = gatehouse;
      const ports = { API: Number(new URL(gatehouse.url).port), metrics: app.metricsPort ?? 0 };
      const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${ports[listener]}` });
      const port = await freePort();
      const toBackend = { backend: { backend_id: backend.id } };
      await gatehouse.create('/edges/tcp', { hostports: [`m:${port}`], ...toBackend });
      const path = listener === 'API' ? '/healthz' : '/metrics';
      const request = `GET ${path} HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n`;
      assert.match(await send(ports[listener], request), /^HTTP\/1.1 200/);

      const { store } = app.context;
      const resets = async () => {
        const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
        return readExposition(text).samples.get('gatehouse_inward_refusals_total{leads_to="arrival"}') ?? 0;
      };
      await until(async () => {
        // The side that connects learns the ports, which the system chose, from these rows; a beat restores them.
        for (const { id } of await readProcesses(store.queries)) await removeProcess(store, [], { id });
        assert.equal(await send(port, request), '');
        return (await resets()) > 0;
      }, 'the arriving side alone has reset one');
    });
  }
}
