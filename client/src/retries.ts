import { ApiError, ConnectionError } from './errors.ts';

export interface RetryOptions {
  /** Tries in all; 1 never repeats. */
  readonly attempts: number;
  /** Longest pause that is taken, in milliseconds. A server that asks for a longer one gets no further try. */
  readonly longestPauseMs: number;
  /** Called before each pause, with the fault of the last try. */
  readonly onPause?: ((error: ApiError | ConnectionError, pauseMs: number) => void) | undefined;
}

export const defaultRetries: RetryOptions = { attempts: 5, longestPauseMs: 30_000 };

const firstPauseMs = 200;

/**
 * Runs `call` until it succeeds, fails for good, or the tries are used up. `repeatable` is false for a call that may have
 * been carried out although no answer came, and that would do something else the second time.
 */
export async function withRetries<T>(
  call: (attempt: number) => Promise<T>,
  { attempts, longestPauseMs, onPause }: RetryOptions,
  repeatable: boolean,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      const pauseMs = pauseAfter(error, attempt, repeatable);
      if (pauseMs === undefined || attempt >= attempts || pauseMs > longestPauseMs) throw error;
      // Other errors are never repeated.
      onPause?.(error as ApiError | ConnectionError, pauseMs);
      await pause(pauseMs, signal);
    }
  }
}

/** Milliseconds until the next try, or undefined if there must be none. */
function pauseAfter(error: unknown, attempt: number, repeatable: boolean): number | undefined {
  const backoffMs = firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random());
  if (error instanceof ConnectionError) return repeatable ? backoffMs : undefined;
  if (!(error instanceof ApiError)) return undefined;
  // A 429 is answered before anything is done.
  if (error.status === 429 || (error.status === 503 && repeatable)) {
    return error.retryAfter === undefined ? backoffMs : error.retryAfter * 1000;
  }
  return undefined;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      // An abort signal always has a reason.
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
