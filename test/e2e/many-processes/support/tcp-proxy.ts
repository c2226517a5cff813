import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** True while nothing passes, not even the end of the other side. */
  silent: boolean;
  /** True if the connection stays silent after a thaw. */
  forgotten: boolean;
  /** Events held back while silent, to deliver on a thaw. */
  readonly held: (() => void)[];
}

/** A proxy between a process and what it connects to that simulates network faults. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #upstreamPort: number;
  #port = 0;
  /** Address from which it connects; default: the system's choice. */
  source: string | undefined;
  #frozen = false;
  #freezeAt: string | undefined;

  private constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.#link(client);
    });
  }

  /** Starts a proxy before a port of this machine. */
  static async to(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    await proxy.#listen(0);
    return proxy;
  }

  /** Starts a proxy before the database; returns it with the URL through it. */
  static async before(databaseUrl: string): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
    const url = new URL(databaseUrl);
    const proxy = new TcpProxy(Number(url.port));
    await proxy.#listen(0);
    url.port = String(proxy.#port);
    return { proxy, url: url.href };
  }

  get port(): number {
    return this.#port;
  }

  /** Drops all packets from now on, of new connections too: nothing arrives and nothing is refused. */
  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.silent = true;
  }

  /** Freezes as soon as a client sends this text, then resolves. `abandoned` resolves when that client hangs up. */
  async freezeAt(text: string): Promise<{ readonly abandoned: Promise<unknown> }> {
    this.#freezeAt = text;
    // `#link` emits it with the connection.
    const [client] = (await once(this.#server, 'frozen')) as [Socket];
    return { abandoned: new Promise((resolve) => client.once('end', resolve).once('close', resolve)) };
  }

  /** Ends a freeze and delivers the data held back. */
  thaw(): void {
    this.#frozen = false;
    for (const link of this.#links) {
      if (link.forgotten) continue;
      link.silent = false;
      for (const event of link.held.splice(0)) event();
    }
  }

  /** Silences every open connection for ever, as when a router loses its state; new ones work. */
  forget(): void {
    for (const link of this.#links) {
      link.forgotten = true;
      link.silent = true;
    }
  }

  /** Breaks all connections; new ones work. */
  break(): void {
    for (const { client, upstream } of this.#links) {
      client.destroy();
      upstream.destroy();
    }
    this.#links.clear();
  }

  /** Breaks all connections and refuses new ones. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.break();
    await closed;
  }

  async restore(): Promise<void> {
    await this.#listen(this.#port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    // The address of a TCP server is not a string.
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #link(client: Socket): void {
    const upstream = connect({
      port: this.#upstreamPort,
      host: '127.0.0.1',
      allowHalfOpen: true,
      ...(this.source === undefined ? {} : { localAddress: this.source }),
    });
    const link: Link = { client, upstream, silent: this.#frozen, forgotten: false, held: [] };
    this.#links.add(link);
    client.prependListener('data', (chunk) => {
      if (this.#freezeAt === undefined || !chunk.includes(this.#freezeAt)) return;
      this.#freezeAt = undefined;
      this.freeze();
      this.#server.emit('frozen', client);
    });
    relay(link, client, upstream);
    relay(link, upstream, client);
  }
}

function relay(link: Link, from: Socket, to: Socket): void {
  const pass = (event: () => void) => {
    if (link.silent) link.held.push(event);
    else event();
  };
  from.setNoDelay(true);
  from.on('error', () => {});
  from.on('data', (chunk) => {
    pass(() => to.write(chunk));
  });
  from.on('end', () => {
    pass(() => to.end());
  });
  from.on('close', () => {
    pass(() => to.destroy());
  });
}
