import type { Inspected } from './use-inspection.ts';

/** Names of all filters in the URL. */
export const filterNames: readonly string[] = ['status', 'method', 'replays', 'find'];

export const statuses = [
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
  ['none', 'none'],
] as const;
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map(
  (method) => [method, method] as const,
);
export const replays = [
  ['only', 'only these'],
  ['hidden', 'hidden'],
] as const;

export function fitsFilter(request: Inspected, params: URLSearchParams): boolean {
  const [status, method, replay] = [params.get('status'), params.get('method'), params.get('replays')];
  const answered = request.answer === undefined ? 'none' : String(request.answer.status).slice(0, 1);
  if (status !== null && status !== answered) return false;
  if (method !== null && method !== request.method) return false;
  if (replay !== null && (replay === 'only') !== (request.replay_of !== undefined)) return false;
  const find = params.get('find')?.toLowerCase() ?? '';
  return find === '' || textsOf(request).some((text) => text.toLowerCase().includes(find));
}

function textsOf({ id, target, host, request, answer }: Inspected): readonly string[] {
  const headers = [...request.headers, ...(answer?.headers ?? [])].map(({ name, value }) => `${name}: ${value}`);
  return [id, target, host, request.body ?? '', answer?.body ?? '', ...headers];
}
