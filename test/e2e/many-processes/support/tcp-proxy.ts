import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Nothing passes any more, not even that the other side has gone. */
  silent: boolean;
  /** It stays silent. */
  forgotten: boolean;
  /** What happened meanwhile, for when it speaks again. */
  readonly held: (() => void)[];
}

/** Stands between a process and its database, and can be what networks are. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #upstreamPort: number;
  #port = 0;
  #frozen = false;
  #freezeAt: string | undefined;

  private constructor(upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.#link(client);
    });
  }

  /** Answers the same URL through the proxy as well. */
  static async before(databaseUrl: string): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
    const url = new URL(databaseUrl);
    const proxy = new TcpProxy(Number(url.port));
    await proxy.#listen(0);
    url.port = String(proxy.#port);
    return { proxy, url: url.href };
  }

  /** Packets get lost from here on: nothing arrives, nothing is refused, new connections included. */
  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.silent = true;
  }

  /** Freezes as soon as a client sends this. Resolves then. */
  async freezeAt(text: string): Promise<void> {
    this.#freezeAt = text;
    await once(this.#server, 'frozen');
  }

  /** What was held back arrives. */
  thaw(): void {
    this.#frozen = false;
    for (const link of this.#links) {
      if (link.forgotten) continue;
      link.silent = false;
      for (const event of link.held.splice(0)) event();
    }
  }

  /** Every connection there is falls silent for ever; new ones work. As when a router forgets them. */
  forget(): void {
    for (const link of this.#links) {
      link.forgotten = true;
      link.silent = true;
    }
  }

  /** Connections break, and new ones are refused. */
  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { client, upstream } of this.#links) {
      client.destroy();
      upstream.destroy();
    }
    this.#links.clear();
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
    // A TCP server's address is not a text.
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #link(client: Socket): void {
    const upstream = connect({ port: this.#upstreamPort, host: '127.0.0.1', allowHalfOpen: true });
    const link: Link = { client, upstream, silent: this.#frozen, forgotten: false, held: [] };
    this.#links.add(link);
    client.prependListener('data', (chunk) => {
      if (this.#freezeAt === undefined || !chunk.includes(this.#freezeAt)) return;
      this.#freezeAt = undefined;
      this.freeze();
      this.#server.emit('frozen');
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
