import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { connectPostgres } from '../../support/postgres-client.ts';
import { launchPostgres, startPostgres } from '../../support/postgres.ts';
import type { PostgresServer } from '../../support/postgres.ts';

type WriteProgram = (name: string, script: string) => Promise<void>;

/** A PostgreSQL of the tests behind the commands by which pages start, stop and ask the one of Debian. */
export class ServicePostgres implements AsyncDisposable {
  readonly port: number;
  readonly #postgres: PostgresServer;
  readonly #calls: Server;
  #process: ChildProcess;

  private constructor(postgres: PostgresServer) {
    this.#postgres = postgres;
    this.#process = postgres.process;
    this.port = Number(new URL(postgres.url).port);
    this.#calls = createServer((request, response) => {
      void text(request)
        .then((body) => this.#do(request.url, body))
        .then(
          () => response.end(),
          (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
        );
    });
  }

  static async start(writeProgram: WriteProgram): Promise<ServicePostgres> {
    const service = new ServicePostgres(await startPostgres());
    service.#calls.listen(0, '127.0.0.1');
    await once(service.#calls, 'listening');
    // A server that listens on a port.
    const { port } = service.#calls.address() as AddressInfo;
    const call = (path: string, body: string) =>
      `curl -sS --fail-with-body --data-binary "${body}" http://127.0.0.1:${port}/${path}\n`;
    await writeProgram('service', call('$2', ''));
    await writeProgram('su', '[ "$1 $2" = "postgres -c" ] && exec sh -c "$3"\n');
    await writeProgram('psql', `for word; do\n  [ "$last" = -c ] && ${call('sql', '$word')}  last=$word\ndone\n`);
    return service;
  }

  async #do(path: string | undefined, body: string): Promise<void> {
    if (path === '/sql') {
      await using client = await connectPostgres(this.#postgres.url);
      await client.query(body);
    } else if (path === '/stop') await this.#stop();
    else if (this.#process.exitCode !== null)
      this.#process = await launchPostgres(this.#postgres.directory, this.port, false);
  }

  async #stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGINT');
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#calls.close();
    await this.#stop();
    await this.#postgres[Symbol.asyncDispose]();
  }
}
