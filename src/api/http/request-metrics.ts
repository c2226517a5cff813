import type { FastifyInstance } from 'fastify';

export interface RequestObserver {
  apiAnswered(operation: string, status: number, durationMs: number): void;
}

/** Operation of calls that are none of the API, such as those of the dashboard's files. */
const other = 'other';

/** Counts and times every call. Streams count when they end. */
export function measureRequests(app: FastifyInstance, observer: RequestObserver): void {
  app.addHook('onResponse', ({ operation }, reply, done) => {
    observer.apiAnswered(operation?.operationId ?? other, reply.statusCode, reply.elapsedTime);
    done();
  });
}
