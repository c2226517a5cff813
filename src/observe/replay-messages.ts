import type { ReplayOutcome, ReplayRequest } from '../gateway/engine.ts';

/** Asks a gateway to send a request. */
export interface ReplayQuestion {
  readonly about: 'replays';
  readonly request: ReplayRequest;
}

const texts = ['accountId', 'edgeId', 'host', 'method', 'target', 'body', 'source', 'of'] as const;
const yes = ['isTls', 'isEdited'] as const;

/** Reads the question of another process, which has checked what its caller has given. Throws over what is no request. */
export function readReplay(question: unknown): ReplayRequest {
  const request = fieldsOf(fieldsOf(question)['request']);
  const { headers } = request;
  if (texts.some((name) => typeof request[name] !== 'string')) throw new Error('a field is no text');
  if (yes.some((name) => typeof request[name] !== 'boolean')) throw new Error('a field is not true or false');
  if (!Array.isArray(headers) || headers.length % 2 !== 0 || headers.some((text) => typeof text !== 'string'))
    throw new Error('the headers are no list');
  // Every field was looked at.
  return request as unknown as ReplayRequest;
}

/** Reads the reply of another process, which is of this installation and runs the same program. */
export function readOutcome(reply: unknown): ReplayOutcome | undefined {
  const { state } = fieldsOf(reply);
  const isKnown = state === 'gone' || state === 'no_answer' || state === 'answered';
  return isKnown ? (reply as ReplayOutcome) : undefined;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no object');
  return value as Record<string, unknown>;
}
