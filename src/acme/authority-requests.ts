import { axios } from 'acme-client';

import { authorityBusy, authorityUnreachable } from './errors.ts';
import { AuthorityFailure, OrderFault, RejectedError } from './order-fault.ts';
import { readAnswer } from './read-answer.ts';
import { waitAskedFor } from './renewal-info.ts';

/** Limit for one request to the authority. */
const requestMs = 30_000;

/** An account that is unknown, or deactivated; the second is also said of what the account may not do. */
const accountProblems = new Set([
  'urn:ietf:params:acme:error:accountDoesNotExist',
  'urn:ietf:params:acme:error:unauthorized',
]);

type Adapter = Extract<typeof axios.defaults.adapter, (config: never) => unknown>;
type AdapterAnswer = Awaited<ReturnType<Adapter>>;

/**
 * Sends the requests of the client by `fetch`, with a time limit. By itself the client would wait and repeat what failed;
 * here every fault ends the attempt, and the schedule says when the next one comes.
 */
export function useFetch(directory: string): void {
  axios.defaults.adapter = async (config): Promise<AdapterAnswer> => {
    const { url = '', method = 'get', headers, data } = config;
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method: method.toUpperCase(),
        headers: Object.entries(headers.toJSON()).map(([name, value]): [string, string] => [name, String(value)]),
        signal: AbortSignal.timeout(requestMs),
        ...(data === undefined || data === null ? {} : { body: String(data) }),
      });
      text = method === 'head' ? '' : await readAnswer(response);
    } catch (error) {
      throw new OrderFault(authorityUnreachable, { directory, reason: sentence(reasonOf(error)) });
    }
    const { status, statusText } = response;
    if (status === 429 || status >= 500) {
      const values = { status, reason: sentence(problemIn(text).words) };
      const Fault = status === 500 ? AuthorityFailure : OrderFault;
      throw new Fault(authorityBusy, values, waitAskedFor(response.headers));
    }
    if (status >= 400 && accountProblems.has(problemIn(text).type)) throw new RejectedError(problemIn(text).words);
    const answer = {
      data: text,
      status,
      statusText,
      headers: Object.fromEntries(response.headers),
      config,
      request: null,
    };
    // The client looks at the answers that are attached to errors of this form only.
    throw Object.assign(new Error(`status ${status}`), { config, response: answer });
  };
}

interface Problem {
  readonly type: string;
  readonly words: string;
}

/** A problem document (RFC 7807), or the text itself. */
function problemIn(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && 'detail' in parsed) {
      return { type: 'type' in parsed ? String(parsed.type) : '', words: String(parsed.detail) };
    }
  } catch {
    // An answer that is not JSON is shown as it is.
  }
  return { type: '', words: text.trim().slice(0, 300) || 'it gave no reason' };
}

/** The innermost cause, which names the address or the fault of its certificate. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return reasonOf(cause);
  return error instanceof Error ? error.message : String(error);
}

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
