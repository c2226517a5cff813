import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

/** Suites of TLS 1.2 with and without authenticated encryption. */
const tried = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA'];

/** Those of the tried suites with which a handshake succeeds. */
export async function suitesOf(options: ConnectionOptions): Promise<readonly string[]> {
  const spoken: string[] = [];
  for (const ciphers of tried) {
    const socket = connect({
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
      ...options,
      ciphers,
    });
    await once(socket, 'secureConnect').then(
      () => spoken.push(socket.getCipher().name),
      () => {},
    );
    socket.destroy();
  }
  return spoken;
}
