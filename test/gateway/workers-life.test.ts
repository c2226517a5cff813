import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import type { CertificatePair } from '../../src/snapshot/local-ca.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, until } from './support/tcp-engine.ts';
import { accountId, backend, packRules, snapshot, toBackend } from './support/tcp-entries.ts';
import { portOf } from './support/tcp-peers.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('workers end when their parent is killed', async (t) => {
  const program = fileURLToPath(new URL('./support/tcp-worker-parent.ts', import.meta.url));
  const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout, 'data');
  const pids = String(line).trim().split(' ').map(Number);
  assert.equal(pids.length, 2);
  assert.ok(pids.every(isAlive));
  parent.kill('SIGKILL');
  await until(() => !pids.some(isAlive), 'no worker is left');
});

test('HTTPS is served by workers as well; their arguments and environment hold no secret', async (t) => {
  let pair: CertificatePair | undefined;
  const authority = await openLocalCa({
    load: async () => undefined,
    save: async (made) => (pair = made),
  });
  const upstream = createServer((_, response) => void response.end('from upstream')).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const https = { host: '127.0.0.1', port: await freePort() };
  const seen = new Recorder();
  const options = { ...plainOptions, https, trustedProxies: packRules([]) };
  const { log } = seen;
  const engine = await createWorkerEngine({
    workers: { least: 2, most: 2 },
    options,
    localCa: pair,
    observer: seen,
    log,
  });
  t.after(async () => {
    await engine.drain(0);
    upstream.close();
  });
  const route = { id: 'edghtsrt_1', matchType: 'path_prefix', match: '/', modules: toBackend() } as const;
  await engine.apply(
    snapshot(backend('bkdsc_1', portOf(upstream)), {
      kind: 'https_edge',
      id: 'edghts_1',
      accountId,
      hostports: ['app.test:443'],
      routes: [route],
    }),
  );
  const sent = request({
    ...https,
    servername: 'app.test',
    headers: { host: 'app.test' },
    ca: authority.caCertificatePem,
  });
  sent.end();
  const [response] = await once(sent, 'response');
  const [body] = await once(response, 'data');
  assert.equal(String(body), 'from upstream');
  for (const pid of engine.pids) {
    const visible = [
      await readFile(`/proc/${pid}/cmdline`, 'utf8'),
      await readFile(`/proc/${pid}/environ`, 'utf8'),
    ].join();
    assert.doesNotMatch(visible, /PRIVATE KEY|GATEHOUSE_|DATABASE/);
    assert.match(visible, /worker-main\.[jt]s/);
  }
});
