import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

import { askHttps, askTcp } from './traffic.ts';
import { until } from './until.ts';

interface LoadTargets {
  readonly httpsPort: number;
  readonly hosts: readonly string[];
  readonly tcpPort: number;
  /** Pause of each client between two requests: the load must notice disturbances, not fill the machine. */
  readonly pauseMs?: number;
}

/** Continuous requests over every kind of connection, until stopped. */
export class Load {
  requests = 0;
  /** Descriptions of failed requests; tests expect none. */
  readonly failures: string[] = [];
  /** Time of each request that was answered. */
  readonly tookMs: number[] = [];
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #pauseMs: number;
  /** Requests that each client has begun. */
  readonly #begun: number[] = [];
  #stopping = false;
  readonly #clients: readonly Promise<void>[];

  constructor({ httpsPort, hosts, tcpPort, pauseMs = 5 }: LoadTargets) {
    this.#pauseMs = pauseMs;
    this.#clients = [
      this.#repeat('kept-alive', (host) => this.#ok(askHttps(httpsPort, host, { agent: this.#agent })), hosts),
      this.#repeat('new connection', (host) => this.#ok(askHttps(httpsPort, host)), hosts),
      this.#overHttp2(httpsPort, hosts),
      this.#repeat('TCP', () => this.#ok(askTcp(tcpPort)), ['']),
    ];
  }

  /** Resolves when each client has its answer, or its failure, to what it had under way, and to one request after it. */
  async untilNoticed(): Promise<void> {
    const before = [...this.#begun];
    // One is over when the next is begun.
    const isOver = () => this.#stopping || this.#begun.every((count, at) => count >= (before[at] ?? 0) + 2);
    await until(isOver, 'two requests of each client');
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  async #repeat(kind: string, ask: (host: string) => Promise<void>, hosts: readonly string[]): Promise<void> {
    const client = this.#begun.push(0) - 1;
    for (let at = 0; !this.#stopping; at++) {
      this.#begun[client] = at + 1;
      const host = hosts[at % hosts.length] ?? '';
      const startMs = performance.now();
      try {
        await ask(host);
        this.requests += 1;
        this.tookMs.push(performance.now() - startMs);
      } catch (error) {
        this.failures.push(`${kind} ${host}: ${String(error)}`);
      }
      await sleep(this.#pauseMs);
    }
  }

  async #overHttp2(port: number, hosts: readonly string[]): Promise<void> {
    const [host = ''] = hosts;
    const open = () =>
      connect(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false }).on('error', (error) =>
        this.failures.push(`HTTP/2 ${error.message}`),
      );
    let session = open();
    const ask = async () => {
      if (session.closed || session.destroyed) session = open();
      try {
        await askHttp2(session, host);
      } catch (error) {
        // It was asked to leave for another worker while it sent this: what was not begun may be sent again (RFC 9113, 8.7).
        if (!String(error).includes('NGHTTP2_REFUSED_STREAM')) throw error;
        session = open();
        await askHttp2(session, host);
      }
    };
    await this.#repeat('HTTP/2', ask, [host]);
    session.destroy();
  }

  async #ok(answer: ReturnType<typeof askHttps>): Promise<void> {
    const { status, text } = await answer;
    if (status !== 200) throw new Error(`${status} ${text}`);
  }
}

function askHttp2(session: ClientHttp2Session, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/', ':authority': host });
    let status = 0;
    stream.on('response', (headers) => (status = Number(headers[':status'])));
    stream.on('error', reject).on('close', () => {
      if (status === 200) resolve();
      else reject(new Error(`status ${status}`));
    });
    stream.resume();
  });
}
