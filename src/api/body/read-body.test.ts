import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';

const pieces = 400_000;

/** Bytes in use once nothing is left to collect. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

onAnyGatehouse('a body in single bytes', (g) => {
  const send = async (path: string, text: string) => {
    const { hostname, port } = new URL(g().url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const head =
      `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${g().token}\r\nService-Version: 2\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(head);
    await new Promise((resolve) => {
      socket.write(text.replaceAll(/[^]/g, '1\r\n$&\r\n'), resolve);
    });
    return socket;
  };

  test('costs little more than its bytes while it comes, and is read whole', { timeout: 240_000 }, async (context) => {
    const { id } = await g().create('/ip_policies');
    const before = heapBytes();
    const socket = await send(`/ip_policies/${id}/rules`, `["10.0.0.0/8"]${' '.repeat(pieces)}`);
    context.after(() => socket.destroy());
    const held = heapBytes() - before;
    socket.write('0\r\n\r\n');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 200 /);
    // A list of the pieces takes 80 MB.
    assert.ok(held < 40_000_000, `${held} bytes`);
  });
});
