import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';

import { freePort } from '../../../test/support/free-port.ts';
import { PortListener } from './port-listener.ts';

const settings = { host: '127.0.0.1', reusePort: false, accept: assert.fail, failed: assert.fail };

test('a port that is given up while it is being opened is free again', async () => {
  const port = await freePort();
  const listener = new PortListener(port, settings);
  const opened = listener.open();
  listener.close();
  await opened;
  assert.equal(listener.fault, undefined);
  const client = connect(port, '127.0.0.1');
  const [error] = await once(client, 'error');
  assert.match(String(error), /ECONNREFUSED/);
});
