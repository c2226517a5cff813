import type { AgentState, Reporter } from '../reporter.ts';
import type { Target } from '../target.ts';
import type { ConnectionReport } from '../visitor.ts';
import type { RequestReport } from '../watch/http-watch.ts';
import type { LineOutput } from './line-output.ts';

/** One JSON object in each line, for programs to read. */
export class JsonReporter implements Reporter {
  readonly #out: LineOutput;

  constructor(out: LineOutput) {
    this.#out = out;
  }

  state(state: AgentState): void {
    switch (state.kind) {
      case 'connecting':
        this.#line('connecting', { server: state.server });
        break;
      case 'online':
        this.#line('online', { address: state.address, target: state.target });
        break;
      case 'offline':
        this.#line('offline', { reason: state.reason, retry_ms: Math.round(state.retryMs) });
        break;
      default:
        this.#line('stopping', { connections: state.visitors });
    }
  }

  inspecting(url: string): void {
    this.#line('inspecting', { url });
  }

  request({ method, path, status, ms, isWhole }: RequestReport): void {
    this.#line('request', { method, path, status: status ?? null, ms: Math.round(ms), whole: isWhole });
  }

  connection({ visitor, bytesIn, bytesOut, ms }: ConnectionReport): void {
    this.#line('connection', { visitor, bytes_in: bytesIn, bytes_out: bytesOut, ms: Math.round(ms) });
  }

  targetFailed({ url }: Target, reason: string): void {
    this.#line('target_failed', { target: url, reason });
  }

  async end(lines: readonly string[], isFault: boolean): Promise<void> {
    this.#line('end', { message: lines.join(' '), fault: isFault });
    await this.#out.flushed();
  }

  #line(event: string, fields: object): void {
    this.#out.line(JSON.stringify({ time: new Date().toISOString(), event, ...fields }));
  }
}
