import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { newSqlite } from '../../support/scratch.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { askHttps } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';

const policyOf = (url: string) =>
  JSON.stringify({
    on_http_request: [
      {
        actions: [
          { type: 'http-request', config: { url } },
          { type: 'custom-response', config: { body: '${actions.ngrok.http_request.res.status_code}' } },
        ],
      },
    ],
  });

for (const workers of ['off', '2'])
  test(`rules ask servers that the operator has named, and never this installation (workers: ${workers})`, async () => {
    await using upstream = await startUpstream();
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const [api, https, metrics] = ports;
    const named = [upstream.port, api, https, metrics].map((port) => `localhost:${port}`).join();
    await using program = await Program.start(
      newSqlite(),
      { workers, 'policy-request-hosts': named, 'drain-seconds': '0' },
      { ports },
    );
    const { routePath } = await createAppEdge(program, upstream.port);
    const answersOf = async (url: string) => {
      await program.must('PUT', `${routePath}/traffic_policy`, { value: policyOf(url) });
      const asked = Array.from({ length: 12 }, () => askHttps(program.httpsPort, appHost));
      return [...new Set((await Promise.all(asked)).map(({ text }) => text))].join();
    };
    assert.equal(await answersOf(`http://localhost:${upstream.port}/`), '200');
    for (const port of [api, metrics])
      assert.equal(await answersOf(`http://localhost:${port}/livez`), '502', `${port}`);
    assert.equal(await answersOf(`https://localhost:${https}/`), '502');
    const refused = await program.call('PUT', `${routePath}/traffic_policy`, {
      value: policyOf('https://other.test/'),
    });
    assert.match(refused.body.msg, /GATEHOUSE_POLICY_REQUEST_HOSTS/);
  });
