/** One server-sent event; its data is JSON. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Reads a stream of the form text/event-stream until it ends. Comments, which keep it open, are left out. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map((line): [string, string] => {
          const at = line.indexOf(':');
          return [line.slice(0, at), line.slice(at + 1).trimStart()];
        }),
      );
      const data = fields.get('data');
      if (data !== undefined) yield { event: fields.get('event') ?? 'message', data: JSON.parse(data) as unknown };
    }
  }
}
