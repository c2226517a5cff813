import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A balancer as operators put it before their gateways: it passes bytes on, and takes the next target when one does not accept. */
export class Balancer implements AsyncDisposable {
  readonly #targets: readonly Target[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that each target took. */
  readonly taken: number[];
  #turn = 0;

  private constructor(targets: readonly Target[]) {
    this.#targets = targets;
    this.taken = targets.map(() => 0);
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      this.#own(client);
      this.#turn += 1;
      this.#pass(client, this.#turn, targets.length);
    });
  }

  static async before(targets: readonly Target[]): Promise<Balancer> {
    const balancer = new Balancer(targets);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get port(): number {
    // A server that listens on a port has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #pass(client: Socket, turn: number, left: number): void {
    const at = turn % this.#targets.length;
    const target = this.#targets[at];
    if (target === undefined || left === 0) {
      client.destroy();
      return;
    }
    const upstream = connect({ ...target, allowHalfOpen: true });
    this.#own(upstream);
    const tryNext = (): void => {
      this.#pass(client, turn + 1, left - 1);
    };
    upstream.once('error', tryNext);
    upstream.once('connect', () => {
      upstream.off('error', tryNext);
      this.taken[at] = (this.taken[at] ?? 0) + 1;
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }
}
