import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';

import { Decisions } from '../../../src/decisions/decisions.ts';
import { freePort } from '../../support/free-port.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { SignInSite, start } from './support/sign-in-site.ts';
import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';

const ignore = (): void => {};
const quiet = {
  log: { info: ignore, warn: ignore, error: ignore },
  observer: { decisionsKept: ignore, decisionsDropped: ignore, decisionsSize: ignore, decisionsArchive: ignore },
};

/** What a gateway has kept, oldest first, once it has stopped. */
async function keptIn(folder: string) {
  const options = { folder, days: 7, maxBytes: 2 ** 30, archive: undefined };
  await using decisions = await Decisions.open({ options, ...quiet });
  const [accountId = ''] = readdirSync(join(folder, 'accounts'));
  return (await decisions.ask('list', { accountId, limit: 100 })).rows.toReversed();
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

for (const workers of ['off', '2']) {
  test(`an account finds who was refused and who was let in, and the person, with workers: ${workers}`, async () => {
    await using at = await SignInSite.start({
      workers,
      httpsListen: `[::]:${await freePort()}`,
      decisions: scratchFolder(),
    });
    const { site } = at;
    /** What GET /decisions shows, once there are so many. */
    const found = async (query: string, count: number) => {
      // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
      let decisions: readonly any[] = [];
      await until(async () => {
        const { status, body } = await site.gatehouse.get(`/decisions?edge_id=${site.edgeId}&${query}`);
        assert.equal(status, 200, JSON.stringify(body));
        ({ decisions } = body);
        return decisions.length >= count;
      }, `${count} decisions are found by ${query}`);
      return decisions.map(({ path, verdict, module, restrictions, host, status, person }) => ({
        path,
        verdict,
        module,
        restrictions,
        host,
        status,
        person,
      }));
    };
    await site.askHttps({ path: '/let-in?token=hidden', from: '127.0.0.2' });
    const restriction = await site.restrict(true, await site.policy('127.0.0.1/32'));
    assert.equal((await site.askHttps({ path: '/refused', from: '127.0.0.3' })).status, 403);
    const none = { module: undefined, restrictions: undefined, person: undefined };
    const refusal = { ...none, path: '/refused', verdict: 'refused', host: siteHost, status: 403 };
    const refused = { ...refusal, restrictions: [restriction.id] };
    for (const query of [`restriction_id=${restriction.id}`, 'verdict=refused', 'source=127.0.0.3', 'status=403'])
      assert.deepEqual(await found(query, 1), [refused], query);
    await site.gatehouse.put(`${site.routePath}/ip_restriction`, { ip_policy_ids: [await site.policy('10.0.0.0/8')] });
    assert.equal((await site.askHttps({ path: '/at-module', from: '127.0.0.1' })).status, 403);
    await site.gatehouse.delete(`${site.routePath}/ip_restriction`);
    const atModule = { ...refusal, path: '/at-module', module: 'ip_restriction' };
    assert.deepEqual(await found('module=ip_restriction', 1), [atModule]);
    const letIn = { ...none, path: '/let-in', verdict: 'allowed', host: siteHost, status: 200 };
    for (const query of ['verdict=allowed', 'source=127.0.0.2/32', `host=${siteHost}&status=200`])
      assert.deepEqual(await found(query, 1), [letIn], query);
    assert.deepEqual(await found('', 3), [atModule, refused, letIn]);

    await at.put({ email_domains: ['example.com'] });
    const ada = await at.visitor().signIn(`${start}page`, 'ada');
    assert.equal(ada.status, 200, ada.text);
    const bob = await at.visitor().signIn(`${start}page`, 'bob');
    assert.equal(bob.status, 403, bob.text);
    // A login ends at a path of the gateway's own, and is told as its module's all the same.
    const ofBob = { ...refusal, path: '/.gatehouse/sign-in/callback', module: 'oidc', person: 'bob@partner.example' };
    for (const query of ['person=bob@partner.example', 'module=oidc&verdict=refused'])
      assert.deepEqual(await found(query, 1), [ofBob], query);
    const [ofAda] = await found('person=ada@example.com&verdict=allowed&status=200', 1);
    assert.deepEqual(ofAda, { ...letIn, path: '/page', person: 'ada@example.com' });
    await at.endAll();
  });
}
