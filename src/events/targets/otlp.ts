import type { FetchFor } from '../../sign-in/guarded-fetch.ts';
import type { OutgoingEvent, Outcome } from '../event.ts';
import { oneLine } from '../one-line.ts';
import type { SendTo } from './send-to.ts';
import { outcomeOfStatus } from './send-to.ts';

const path = '/v1/logs';
/** INFO. */
const severity = { severityNumber: 9, severityText: 'INFO' };

/** Sends an event as a log record of OpenTelemetry, over OTLP/HTTP with JSON. */
export function sendToOtlp(fetchFor: FetchFor): SendTo<'otlp'> {
  return async ({ accountId, target, events: [event], signal }) => {
    const response = await fetchFor(accountId)(logsUrl(target.url), {
      method: 'POST',
      headers: { ...target.headers, 'content-type': 'application/json', 'user-agent': 'gatehouse-events' },
      body: JSON.stringify(logsRequest(event)),
      signal,
    });
    if (response.status !== 200) return outcomeOfStatus(response.status);
    return outcomeOfAnswer(await response.text());
  };
}

/** The URL of logs, from that of the collector. */
function logsUrl(url: string): string {
  return url.endsWith(path) ? url : `${url.replace(/\/$/, '')}${path}`;
}

function logsRequest({ id, type, at, accountId, body }: OutgoingEvent): object {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  return {
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'gatehouse')] },
        scopeLogs: [
          {
            scope: { name: 'gatehouse.events' },
            logRecords: [
              {
                timeUnixNano: nanoseconds(Date.parse(at)),
                observedTimeUnixNano: nanoseconds(Date.now()),
                ...severity,
                eventName: type,
                body: { stringValue: body },
                attributes: [text('event.id', id), text('gatehouse.account.id', accountId)],
              },
            ],
          },
        ],
      },
    ],
  };
}

/** 64 bits are texts in the JSON of protocol buffers. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.max(0, Math.trunc(ms))) * 1_000_000n);
}

/** A collector that takes the request may refuse the record in it, and must not be sent it again. */
function outcomeOfAnswer(text: string): Outcome {
  let answer: unknown;
  try {
    answer = JSON.parse(text === '' ? '{}' : text);
  } catch {
    return { kind: 'sent' };
  }
  if (typeof answer !== 'object' || answer === null || !('partialSuccess' in answer)) return { kind: 'sent' };
  const { partialSuccess } = answer;
  if (typeof partialSuccess !== 'object' || partialSuccess === null) return { kind: 'sent' };
  const { rejectedLogRecords = 0, errorMessage = '' } = partialSuccess as Readonly<Record<string, unknown>>;
  if (!(Number(rejectedLogRecords) > 0)) return { kind: 'sent' };
  const why = typeof errorMessage === 'string' && errorMessage !== '' ? `: ${oneLine(errorMessage)}` : '';
  return { kind: 'refused', reason: `it rejected the log record${why}`, isFinal: true };
}
