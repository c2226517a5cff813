import { ApiError, ConnectionError, GatehouseClient } from '../../../client/src/index.ts';
import { callHeaders, takeEarly } from './early-calls.ts';
import { sessionIsOver } from './session.ts';

/** Numbers of the errors with which a session ends: a source address that is refused, and a user who was deactivated. */
const endings = [220, 636];

/** Calls the API of the server that the page came from; the two secrets of the session sign in. */
export const client = new GatehouseClient({
  url: location.origin,
  retries: { attempts: 2, longestPauseMs: 2000 },
  fetch: async (input, init) => {
    const response = await (earlyAnswer(input, init) ?? fetch(input, withSecret(init)));
    if (response.status === 401) sessionIsOver();
    if (response.status === 403) {
      const { error_code: code = '', msg } = await bodyOf(response.clone());
      if (endings.some((number) => code.endsWith(`_${number}`))) sessionIsOver(msg);
    }
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

async function bodyOf(response: Response): Promise<{ error_code?: string; msg?: string }> {
  try {
    // Every error of the API has this form.
    return (await response.json()) as { error_code?: string; msg?: string };
  } catch {
    return {};
  }
}

/** What a call can fail with; anything else is a fault of the page. */
export type CallError = ApiError | ConnectionError;

export function asCallError(error: unknown): CallError {
  if (error instanceof ApiError || error instanceof ConnectionError) return error;
  throw error;
}

export const errorNumbers = { wouldLockOut: 20_005, stale: 20_020 } as const;
