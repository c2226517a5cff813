import { serviceListKey } from './services.ts';

export interface TaskLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Work that a resource does beside calls, from the start of a process to its end. */
export interface BackgroundTask {
  /** True for work that only processes which serve the API do. */
  readonly ofApi: boolean;
  /** Disposing of what it returns ends the task, after what must not be lost is written. */
  start(log: TaskLog): Promise<AsyncDisposable | Disposable>;
}

export const backgroundTasks = serviceListKey<BackgroundTask>('background tasks');

/** A task that only writes, at the end, what is in memory. */
export function flushAtEnd(flush: () => Promise<void>): BackgroundTask {
  return { ofApi: false, start: async () => ({ [Symbol.asyncDispose]: flush }) };
}
