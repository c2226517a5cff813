import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

import { askHttps } from '../../gateway/support/traffic.ts';

const host = 'app.edge.test';
const pauseMs = 100;

/** Clients that disconnect in the middle of a request, so that the gateway has to clean up. */
export class RestlessClients {
  rounds = 0;
  #stopping = false;
  readonly #clients: readonly Promise<void>[];

  constructor(httpsPort: number, tcpPort: number) {
    const tls = () =>
      connectTls({ port: httpsPort, servername: host, rejectUnauthorized: false }).on('error', () => {});
    this.#clients = [
      // Half a request head.
      this.#repeat(async () => {
        const socket = tls();
        socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n`);
        await sleep(pauseMs);
        socket.destroy();
      }),
      // Half a body.
      this.#repeat(async () => {
        const socket = tls();
        socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(5000)}`);
        await sleep(pauseMs);
        socket.destroy();
      }),
      // A handshake that is not finished, and a connection through the TCP edge that is reset.
      this.#repeat(async () => {
        const sockets = [connect(httpsPort, '127.0.0.1'), connect(tcpPort, '127.0.0.1')];
        for (const socket of sockets) socket.on('error', () => {}).write(Buffer.from([0x16, 3, 1, 2, 0]));
        await sleep(pauseMs);
        for (const socket of sockets) socket.resetAndDestroy();
      }),
      // Large bodies, both taken and not.
      this.#repeat(async () => {
        await askHttps(httpsPort, host, { method: 'POST', body: 'x'.repeat(300_000) });
        await sleep(pauseMs);
      }),
      // An upgrade that the upstream does not know.
      this.#repeat(async () => {
        const socket = tls();
        socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
        await sleep(pauseMs);
        socket.destroy();
      }),
    ];
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
  }

  async #repeat(round: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      // Errors do not matter here; the test counts the descriptors that stay open.
      await round().catch(() => {});
      this.rounds += 1;
    }
  }
}
