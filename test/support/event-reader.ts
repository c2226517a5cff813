import { until } from '../e2e/gateway/support/until.ts';

export interface ReadEvent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into the data freely
  readonly data: any;
}

/** Reads a stream of server-sent events as a browser does. */
export class EventReader implements AsyncDisposable {
  readonly events: ReadEvent[] = [];
  /** Everything that came, as it came. */
  text = '';
  /** The server has ended the stream. */
  isOver = false;
  readonly #leaving: AbortController;
  #rest = '';

  private constructor(leaving: AbortController) {
    this.#leaving = leaving;
  }

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
    const leaving = new AbortController();
    const response = await fetch(url, { headers: { 'service-version': '2', ...headers }, signal: leaving.signal });
    if (response.status !== 200 || response.body === null)
      throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    const reader = new EventReader(leaving);
    void reader.#read(response.body).catch(() => {});
    await until(() => reader.text !== '', 'the stream has begun');
    return reader;
  }

  /** The first event that fits, among those that have come and those that will. */
  async find(fits: (event: ReadEvent) => boolean, what: string): Promise<ReadEvent> {
    await until(
      () => this.events.some(fits),
      () => `${what} in ${JSON.stringify(this.events)}`,
    );
    return this.events.find(fits) ?? { event: '', data: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const bytes of body) {
      const piece = Buffer.from(bytes).toString();
      this.text += piece;
      const parts = (this.#rest + piece).split('\n\n');
      this.#rest = parts.pop() ?? '';
      for (const part of parts) this.#keep(part);
    }
    this.isOver = true;
  }

  #keep(part: string): void {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
    if (event !== undefined && data !== undefined) this.events.push({ event, data: JSON.parse(data) });
  }
}
