import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';

import { Decisions } from '../../../src/decisions/decisions.ts';
import { freePort } from '../../support/free-port.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { Site, siteHost } from './support/site.ts';

const ignore = (): void => {};
const quiet = {
  log: { info: ignore, warn: ignore, error: ignore },
  observer: { decisionsKept: ignore, decisionsDropped: ignore, decisionsSize: ignore },
};

/** What a gateway has kept, oldest first, once it has stopped. */
async function keptIn(folder: string) {
  const options = { folder, days: 7, maxBytes: 2 ** 30, archive: undefined };
  await using decisions = await Decisions.open({ options, ...quiet });
  const [accountId = ''] = readdirSync(join(folder, 'accounts'));
  return (await decisions.query({ accountId, limit: 100 })).rows.toReversed();
}

/** Is refused before it sends any of a body that it says is as long as a length can be. */
async function announceLongBody(port: number, localAddress: string): Promise<void> {
  const options = { servername: siteHost, rejectUnauthorized: false, localAddress };
  const session = connect(`https://127.0.0.1:${port}`, options);
  const headers = { ':authority': siteHost, ':path': '/announced', 'content-length': String(2n ** 63n - 1n) };
  const stream = session.request({ ':method': 'POST', ...headers }, { endStream: false });
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
  assert.equal(head[':status'], 403);
  session.destroy();
}

for (const workers of ['off', '2']) {
  test(`every decision is kept with its facts and without secrets, with workers: ${workers}`, async () => {
    const folder = scratchFolder();
    let ids = { edge_id: '', route_id: '', backend_id: '' };
    let [tcpEdgeId, tcpPort] = ['', 0];
    {
      const httpsListen = `[::]:${await freePort()}`;
      await using site = await Site.start({ workers, httpsListen, decisions: folder });
      ids = { edge_id: site.edgeId, route_id: site.routeId, backend_id: site.backendId };
      [tcpEdgeId, tcpPort] = [site.tcpEdgeId, site.tcpPort];
      await site.askHttps({ path: '/a/page?token=hidden-query', from: '127.0.0.1' });
      await site.gatehouse.put(`${site.routePath}/ip_restriction`, {
        ip_policy_ids: [await site.policy('10.0.0.0/8')],
      });
      await site.askHttps({ path: '/refused', from: '127.0.0.2' });
      await announceLongBody(site.httpsPort, '127.0.0.5');
      await site.askTcp({ from: '127.0.0.3' });
      const restriction = await site.restrict(true, await site.policy('10.0.0.0/8'));
      await assert.rejects(site.askTcp({ from: '127.0.0.4' }));
      ids = { ...ids, restriction: restriction.id } as typeof ids;
    }
    const rows = await keptIn(folder);
    const facts = rows.map(
      ({ kind, verdict, source, path, host, status, code, module, rule, port, edge_id: edge }) => ({
        kind,
        verdict,
        source,
        path,
        host,
        status,
        code,
        module,
        rule,
        port,
        edge,
      }),
    );
    const https = { kind: 'https', host: siteHost, port: 0, rule: '', edge: ids.edge_id };
    const tcp = { kind: 'tcp', host: '', path: '', status: 0, code: 0, module: '', port: tcpPort, edge: tcpEdgeId };
    const { restriction = '' } = ids as { restriction?: string };
    const sorted = facts.toSorted((a, b) => (a.source < b.source ? -1 : 1));
    assert.deepEqual(sorted, [
      { ...https, verdict: 'allowed', source: '127.0.0.1', path: '/a/page', status: 200, code: 0, module: '' },
      {
        ...https,
        verdict: 'refused',
        source: '127.0.0.2',
        path: '/refused',
        status: 403,
        code: 3203,
        module: 'ip_restriction',
      },
      { ...tcp, verdict: 'allowed', source: '127.0.0.3', rule: '' },
      { ...tcp, verdict: 'refused', source: '127.0.0.4', rule: restriction },
      {
        ...https,
        verdict: 'refused',
        source: '127.0.0.5',
        path: '/announced',
        status: 403,
        code: 3203,
        module: 'ip_restriction',
      },
    ]);
    const [first, second, announced] = rows.filter(({ kind }) => kind === 'https');
    assert.deepEqual([first?.route_id, first?.backend_id], [ids.route_id, ids.backend_id]);
    assert.ok((first?.duration_us ?? 0n) >= (first?.upstream_us ?? 0n) && (first?.upstream_us ?? 0n) > 0n);
    assert.deepEqual([first?.bytes_in, (first?.bytes_out ?? 0n) > 0n], [0n, true]);
    assert.equal(announced?.bytes_in, 0n);
    assert.ok((second?.configuration_version ?? 0n) > (first?.configuration_version ?? 0n));
    assert.equal(
      rows.every(({ worker }) => worker > 0),
      workers !== 'off',
    );
  });
}
