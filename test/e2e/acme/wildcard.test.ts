import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { newSqlite, scratchFolder } from '../../support/scratch.ts';
import { until } from '../gateway/support/until.ts';
import { readRecords, serveRecords } from './support/dns-server.ts';
import { isInside, runInside } from './support/own-network.ts';
import { askPeer, isServed } from './support/peer.ts';
import { acmeOn, orderMs } from './support/settings.ts';

if (isInside) {
  test('a wildcard gets its certificate by the records that the program of the operator makes', async () => {
    const folder = scratchFolder();
    const [records, calls, hook] = ['records', 'calls', 'hook'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(records, '');
    const lines = [
      '#!/bin/sh',
      `echo "$1 $2" >> ${calls}`,
      `if [ "$1" = add ]; then echo "$2 $3" >> ${records}; else : > ${records}; fi`,
    ];
    writeFileSync(hook, `${lines.join('\n')}\n`, { mode: 0o755 });
    using server = await serveRecords(records);
    assert.ok(server);
    await using gatehouse = await Gatehouse.start(newSqlite(), { ...acmeOn, acmeDnsHook: hook });
    await gatehouse.create('/edges/https', { hostports: ['*.gatehouse-wild.net:443', 'a.gatehouse-wild.net:443'] });
    await until(
      () => isServed('127.0.0.2', 'any.gatehouse-wild.net'),
      () => gatehouse.logLines.slice(-5).join(''),
      orderMs,
    );
    const { certificate } = await askPeer('127.0.0.2', 'a.gatehouse-wild.net');
    assert.equal(certificate.subjectaltname, 'DNS:*.gatehouse-wild.net');
    const record = '_acme-challenge.gatehouse-wild.net';
    assert.deepEqual(
      readRecords(calls).map((call) => call.join(' ')),
      [`add ${record}`, `remove ${record}`],
    );
  });
} else {
  runInside(import.meta.filename, 1);
}
