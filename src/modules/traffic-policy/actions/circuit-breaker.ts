import { circuitOpenByPolicy } from '../../../errors/shared.ts';
import { retryLater, UserError } from '../../../errors/user-error.ts';
import { Breaker } from '../../breaker.ts';
import type { Action } from './action.ts';

const [shortestMs, longestMs] = [1_000, 120_000];

/** Spares an upstream that fails. Each process counts for itself. */
export const circuitBreaker: Action = {
  type: 'circuit-breaker',
  phases: ['on_http_request'],
  guards: false,
  build(config) {
    const isEnforced = config.boolean('enforce') ?? true;
    const rules = {
      threshold: config.number('error_threshold', 0, 1) ?? 0.5,
      leastRequests: config.integer('volume_threshold', 1, 2_000_000_000) ?? 10,
      windowMs: config.duration('window_duration', shortestMs, longestMs) ?? 10_000,
      parts: config.integer('num_buckets', 10, 10) ?? 10,
      openMs: config.duration('tripped_duration', shortestMs, longestMs) ?? 10_000,
    };
    const key = `policy breaker ${config.path} ${JSON.stringify(rules)}`;
    const newBreaker = (): Breaker => new Breaker(rules, () => performance.now());
    return {
      ends: false,
      run({ request }) {
        const attempt = request.kept(key, newBreaker).attempt();
        if (attempt !== undefined) request.circuits = [...request.circuits, attempt];
        else if (isEnforced) return new UserError(circuitOpenByPolicy, retryLater);
        else request.warn('circuit-breaker');
        return undefined;
      },
      facts: { stateKey: key },
    };
  },
};
