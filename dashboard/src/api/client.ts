import { ApiError, ConnectionError, GatehouseClient } from '../../../client/src/index.ts';
import type { ErrorBody } from '../../../client/src/index.ts';
import { fetchFromServer } from './connection.ts';
import { callHeaders, takeEarly } from './early-calls.ts';
import { noteRefusal } from './session.ts';

/** Calls the API of the server that the page came from; the two secrets of the session sign in. */
export const client = new GatehouseClient({
  url: location.origin,
  retries: { attempts: 2, longestPauseMs: 2000 },
  fetch: async (input, init) => {
    const response = await (earlyAnswer(input, init) ?? fetchFromServer(input, withSecret(init)));
    const { status } = response;
    if (status === 401 || status === 403)
      noteRefusal(new ApiError(status, await bodyOf(response.clone()), '', undefined));
    return response;
  },
});

/** Another tab may have signed in meanwhile, so that the secret is that of now. */
function withSecret(init: RequestInit | undefined): RequestInit {
  // The client gives its headers as an object.
  return { ...init, headers: { ...(init?.headers as Record<string, string>), ...callHeaders() } };
}

function earlyAnswer(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> | undefined {
  const isRead = typeof input === 'string' && init?.method === 'GET';
  return isRead ? takeEarly(input.slice(location.origin.length)) : undefined;
}

async function bodyOf(response: Response): Promise<Partial<ErrorBody>> {
  try {
    // Every error of the API has this form.
    return (await response.json()) as Partial<ErrorBody>;
  } catch {
    return {};
  }
}

/** Errors that a call can fail with; anything else is a fault of the page. */
export type CallError = ApiError | ConnectionError;

export function asCallError(error: unknown): CallError {
  if (error instanceof ApiError || error instanceof ConnectionError) return error;
  throw error;
}

export const errorNumbers = { wouldLockOut: 20_005, stale: 20_020 } as const;
