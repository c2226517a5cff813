import { once } from 'node:events';
import { connect } from 'node:tls';
import type { SecureVersion, TLSSocket } from 'node:tls';

/**
 * `node tls-clients.ts PORT SECONDS VERSION new|resumed`: opens TLS connections one after another, several at a time, each
 * with one request, and prints how many there were and how many of them resumed a session.
 */
const [, , port, seconds, version, mode] = process.argv;
const clients = 8;
const endMs = performance.now() + Number(seconds) * 1000;
const counts = { connections: 0, resumed: 0 };

await Promise.all(Array.from({ length: clients }, runClient));
process.stdout.write(JSON.stringify(counts));

async function runClient(): Promise<void> {
  let session: Buffer | undefined;
  while (performance.now() < endMs) {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      servername: 'localhost',
      // The certificate is one of the benchmark's own.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      minVersion: version as SecureVersion,
      maxVersion: version as SecureVersion,
      ...(mode === 'resumed' && session !== undefined ? { session } : {}),
    });
    socket.on('session', (next) => (session = next));
    await once(socket, 'secureConnect');
    if (socket.isSessionReused()) counts.resumed += 1;
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const answer = await firstBytes(socket);
    if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`connection ${counts.connections}: "${answer}"`);
    socket.destroy();
    counts.connections += 1;
  }
}

/** Empty for a connection that is closed without an answer. */
function firstBytes(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1', 0, 100)));
    socket.once('close', () => resolve(''));
    socket.once('error', reject);
  });
}
