import { ApiError, ConnectionError } from '../../../client/src/index.ts';
import type { ErrorBody } from '../../../client/src/index.ts';
import { callHeaders } from './early-calls.ts';
import { sessionIsOver } from './session.ts';

/** Fetches a path of the server that the page came from; throws an `ApiError` unless the answer is a success. */
export async function fetchPath(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { ...callHeaders, ...(init.headers as Record<string, string>) } });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ConnectionError('The server does not answer.', { cause: error });
  }
  if (response.ok) return response;
  if (response.status === 401) sessionIsOver();
  const operationId = response.headers.get('gatehouse-operation-id') ?? '';
  throw new ApiError(response.status, errorOf(await response.text()), operationId, undefined);
}

/** Every error of the API has this form; where something in between answers, there is none. */
function errorOf(text: string): Partial<ErrorBody> {
  try {
    return JSON.parse(text) as Partial<ErrorBody>;
  } catch {
    return {};
  }
}
