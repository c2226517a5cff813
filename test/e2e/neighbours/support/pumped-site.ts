import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

import { portOf } from '../../../gateway/support/https-upstream.ts';
import { freePort } from '../../../support/free-port.ts';
import { WatchedProgram } from './watched-program.ts';

/** The program with edges before an upstream that answers what it is told to. */
export class PumpedSite implements AsyncDisposable {
  readonly program: WatchedProgram;
  readonly httpsPort: number;
  /** Bytes of the next answers. */
  answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  readonly #upstream: Server;
  readonly #sockets = new Set<Socket>();
  readonly #routes = new Map<string, string>();

  private constructor(program: WatchedProgram, httpsPort: number, upstream: Server) {
    this.program = program;
    this.httpsPort = httpsPort;
    this.#upstream = upstream;
    upstream.on('connection', (socket: Socket) => this.#serve(socket));
  }

  static async start(databaseUrl: string, more: readonly string[] = []): Promise<PumpedSite> {
    const upstream = createServer().listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const port = await freePort();
    const settings = [`--https-listen=127.0.0.1:${port}`, '--access-log=0', '--rate-limit=off', ...more];
    return new PumpedSite(await WatchedProgram.start(databaseUrl, settings), port, upstream);
  }

  /** Creates an edge with one route. */
  async addEdge(host: string, modules: object = {}): Promise<void> {
    const address = `127.0.0.1:${portOf(this.#upstream)}`;
    const backend = await this.program.create('/backends/static', { address });
    const edge = await this.program.create('/edges/https', { hostports: [`${host}:443`] });
    const route = await this.program.create(`/edges/https/${edge}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend },
      ...modules,
    });
    this.#routes.set(host, `/edges/https/${edge}/routes/${route}`);
  }

  /** Sets a module of the route of an edge. */
  async set(host: string, module: string, settings: object): Promise<void> {
    const body = { type: 'application/json', text: JSON.stringify(settings) } as const;
    const { status, text } = await this.program.call('PUT', `${this.#routes.get(host)}/${module}`, body);
    if (status !== 200) throw new Error(`${module} of ${host}: ${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
    for (const socket of this.#sockets) socket.destroy();
    this.#upstream.close();
  }

  #serve(socket: Socket): void {
    let tail = '';
    this.#sockets.add(socket);
    socket
      .on('data', (bytes: Buffer) => {
        tail = (tail + bytes.toString('latin1')).slice(-100_000);
        if (!tail.includes('\r\n\r\n')) return;
        tail = '';
        socket.write(this.answer, 'latin1');
      })
      .on('error', () => {})
      .on('close', () => this.#sockets.delete(socket));
  }
}
