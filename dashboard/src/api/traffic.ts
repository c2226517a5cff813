import type { TrafficEvent } from '../../../client/src/index.ts';
import { readEventStream } from '../lib/event-stream.ts';
import { fetchPath } from './call-path.ts';

interface Listener {
  readonly onOpen: () => void;
  readonly onEvent: (event: TrafficEvent) => void;
  /** So many were left out, because there were more than the server keeps for a listener. */
  readonly onDropped: (count: number) => void;
}

/**
 * Listens to the traffic of this process until the signal says stop or the stream ends. A browser's own `EventSource`
 * cannot send the header without which a cookie counts for nothing.
 */
export async function listenToTraffic(signal: AbortSignal, { onOpen, onEvent, onDropped }: Listener): Promise<void> {
  const response = await fetchPath('/traffic/events', { signal, headers: { accept: 'text/event-stream' } });
  if (response.body === null) return;
  onOpen();
  for await (const { event, data } of readEventStream(response.body)) {
    // What comes is that of the operation.
    if (event === 'dropped') onDropped((JSON.parse(data) as { count: number }).count);
    else if (event === 'request' || event === 'connection') onEvent(JSON.parse(data) as TrafficEvent);
  }
}
