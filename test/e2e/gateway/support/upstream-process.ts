import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { until } from './until.ts';

const program = `
const { createServer } = require('node:http');
const name = process.argv[1];
const server = createServer((request, response) => {
  if (request.url === '/held-by-' + name) return console.log('held');
  request.resume().on('end', () => response.end(JSON.stringify({ name, method: request.method, url: request.url, headers: {} })));
});
server.keepAliveTimeout = 60000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('port', server.address().port));
`;

/** An upstream that is a process of its own, so that it can be killed like one. */
export class UpstreamProcess implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #held: () => number;

  private constructor(name: string, port: number, child: ChildProcess, held: () => number) {
    this.name = name;
    this.port = port;
    this.#child = child;
    this.#held = held;
  }

  /** Requests for `/held-by-` and its name, which it never answers. */
  get held(): number {
    return this.#held();
  }

  /** `port` is 0 for one that the system chooses. */
  static async start(name: string, port = 0): Promise<UpstreamProcess> {
    const child = spawn(process.execPath, ['-e', program, name, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    await until(() => text.endsWith('\n'), 'the upstream listens');
    const [, chosen = ''] = /^port (\d+)$/m.exec(text) ?? [];
    return new UpstreamProcess(name, Number(chosen), child, () => text.split('held\n').length - 1);
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
