import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Site, siteHost } from './support/site.ts';
import { askHttps } from './support/traffic.ts';

test("errors of the gateway carry the vendor's headers where there is a vendor, and ours in any case", async () => {
  for (const vendor of ['acme', undefined]) {
    await using site = await Site.start({ drainSeconds: '0', ...(vendor && { vendor }) });
    await site.gatehouse.patch(site.routePath, { match: '/only' });
    const { status, headers } = await askHttps(site.httpsPort, siteHost, { path: '/elsewhere' });
    const code = vendor === undefined ? 'ERR_GATEHOUSE_20100' : 'ERR_ACME_20100';
    assert.deepEqual([status, headers['gatehouse-error-code']], [404, code]);
    assert.equal(headers['acme-error-code'], vendor && code);
    assert.equal(headers['acme-operation-id'], vendor && headers['gatehouse-operation-id']);
  }
});
