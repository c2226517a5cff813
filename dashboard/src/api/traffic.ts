import { ApiError, ConnectionError } from '../../../client/src/index.ts';
import type { ErrorBody, TrafficEvent } from '../../../client/src/index.ts';
import { readEventStream } from '../lib/event-stream.ts';
import { fetchFromServer } from './connection.ts';
import { callHeaders } from './early-calls.ts';
import { noteRefusal } from './session.ts';

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
    // Events have the form that the operation gives.
    if (event === 'dropped') onDropped((JSON.parse(data) as { count: number }).count);
    else if (event === 'request' || event === 'connection') onEvent(JSON.parse(data) as TrafficEvent);
  }
}

/** Fetches a path of the server that the page came from; throws an `ApiError` unless the answer is a success. */
async function fetchPath(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetchFromServer(path, {
      ...init,
      headers: { ...callHeaders(), ...(init.headers as Record<string, string>) },
    });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ConnectionError('The server does not answer.', { cause: error });
  }
  if (response.ok) return response;
  const operationId = response.headers.get('gatehouse-operation-id') ?? '';
  const error = new ApiError(response.status, errorOf(await response.text()), operationId, undefined);
  noteRefusal(error);
  throw error;
}

/** Every error of the API has this form; where something in between answers, there is none. */
function errorOf(text: string): Partial<ErrorBody> {
  try {
    return JSON.parse(text) as Partial<ErrorBody>;
  } catch {
    return {};
  }
}
