import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

import type { ListenAddress } from '../../lib/host-port.ts';

interface AgentPortOptions {
  readonly listen: ListenAddress;
  /** A socket that listens there already and that others keep open when the process ends. */
  readonly descriptor?: number | undefined;
  /** Connections that may wait; a further one takes the place of the oldest. */
  readonly maxWaiting: number;
}

/** Connections that may wait to be accepted: after a restart all agents come at once. */
const backlog = 4096;

/**
 * Where agents connect. It is open for longer than agents are served: libraries of the hosted service try three times within
 * three seconds, and then not for two minutes. Whoever comes before or after the time of service waits.
 */
export class AgentPort implements Disposable {
  readonly #server: Server;
  readonly #maxWaiting: number;
  readonly #isKept: boolean;
  readonly #waiting = new Set<Socket>();
  #serve: ((socket: Socket) => void) | undefined;

  private constructor(maxWaiting: number, isKept: boolean) {
    this.#maxWaiting = maxWaiting;
    this.#isKept = isKept;
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      // Without a listener an error would end the process; `close` follows and is enough.
      socket.on('error', ignore);
      if (this.#serve === undefined) this.#wait(socket);
      else this.#serve(socket);
    });
  }

  /** Rejects if the address cannot be listened on. */
  static async open({ listen, descriptor, maxWaiting }: AgentPortOptions): Promise<AgentPort> {
    const opened = new AgentPort(maxWaiting, descriptor !== undefined);
    const { host, port } = listen;
    opened.#server.listen(descriptor === undefined ? { host, port, backlog, exclusive: true } : { fd: descriptor });
    await once(opened.#server, 'listening');
    // A connection that cannot be accepted must not end the process, also before anybody serves.
    opened.#server.on('error', ignore);
    if (opened.port === port || port === 0) return opened;
    opened[Symbol.dispose]();
    throw new Error(
      `the socket for agents that was passed on listens on port ${opened.port}, where --agent-listen says ${port}: give both the same`,
    );
  }

  get port(): number {
    // The server listens on a port, so that it has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Hands over all that wait, and then each that comes. The sockets are paused. */
  serve(arrive: (socket: Socket) => void, failed: (error: Error) => void): void {
    this.#serve = arrive;
    this.#server.on('error', failed);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) arrive(socket);
  }

  /** Lets those that come from now on wait: for the next process, if the socket outlives this one. */
  hold(): void {
    this.#serve = undefined;
    if (this.#isKept) this.#server.close();
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #wait(socket: Socket): void {
    const [oldest] = this.#waiting.size < this.#maxWaiting ? [] : this.#waiting;
    if (oldest !== undefined) {
      this.#waiting.delete(oldest);
      oldest.destroy();
    }
    this.#waiting.add(socket);
  }
}

function ignore(): void {}
