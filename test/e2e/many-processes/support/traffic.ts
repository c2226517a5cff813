import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Starts a backend that sends its name on each connection. */
export async function startNamed(name: string): Promise<{ readonly address: string } & Disposable> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a TCP server is not a string.
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.dispose]() {
      server.close();
    },
  };
}

/** Far beyond the needs of a busy machine: a connection that is not answered fails long before. */
const longestAnswerMs = 120_000;

/** Returns the name of the backend behind the port; undefined if none answers. */
export async function askName(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', timeout: longestAnswerMs });
  socket.on('timeout', () => socket.destroy());
  try {
    let name = '';
    for await (const chunk of socket) name += String(chunk);
    return name === '' ? undefined : name;
  } catch {
    return undefined;
  }
}

/** Connects again and again, and counts the connections without an answer. */
export class Traffic implements AsyncDisposable {
  readonly #port: number;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  served = 0;
  failed = 0;

  constructor(port: number) {
    this.#port = port;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if ((await askName(this.#port)) === undefined) this.failed += 1;
      else this.served += 1;
      await sleep(20);
    }
  }
}
