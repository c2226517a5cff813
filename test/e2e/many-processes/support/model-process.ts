import { freePort } from '../../../support/free-port.ts';
import type { Answer, CallOptions } from './call.ts';
import { Running } from './running.ts';

/** A process that reports the version of the configuration in force. */
export class Process implements AsyncDisposable {
  readonly #running: Running;
  readonly #metricsPort: number;

  private constructor(running: Running, metricsPort: number) {
    this.#running = running;
    this.#metricsPort = metricsPort;
  }

  static async start(databaseUrl: string): Promise<Process> {
    const port = await freePort();
    return new Process(await Running.start(databaseUrl, { 'metrics-listen': `127.0.0.1:${port}` }), port);
  }

  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.#running.call(method, path, body, options);
  }

  async version(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`);
    return Number(/^gatehouse_snapshot_version (\d+)$/m.exec(await response.text())?.[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }
}
