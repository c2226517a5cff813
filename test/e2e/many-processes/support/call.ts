import { stripUndefined } from './waiting.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when there is none. Tests look into it freely. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Limit after which the call fails. */
  readonly timeoutMs?: number;
}

const longestMs = 60_000;

/** Calls the API; throws if there is no response. */
export async function callApi(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  { token = '', headers = {}, timeoutMs = longestMs }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: stripUndefined({
      authorization: `Bearer ${token}`,
      'service-version': '2',
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    }),
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
