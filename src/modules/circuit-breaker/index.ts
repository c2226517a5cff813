import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, retryLater, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { requestEffect } from '../step.ts';
import type { RequestStep, RequestVisit } from '../step.ts';
import { Breaker } from '../breaker.ts';
import type { BreakerRules } from '../breaker.ts';

const circuitOpen = defineError(
  20153,
  503,
  'Too many of the last requests to this endpoint have failed, so it gets no requests for a while. Try again later.',
);

const maxSeconds = 86_400;

const fields = {
  tripped_duration: Type.Integer({
    description: 'Seconds without requests after the circuit has opened; then one request is tried. 0 means 10.',
    examples: [10],
    minimum: 0,
    maximum: maxSeconds,
  }),
  rolling_window: Type.Integer({
    description: 'Seconds over which answers are counted. 0 means 10.',
    examples: [10],
    minimum: 0,
    maximum: maxSeconds,
  }),
  num_buckets: Type.Integer({
    description: 'Parts of the rolling window, which expire one by one. Max 128. 0 means 10.',
    examples: [10],
    minimum: 0,
    maximum: 128,
  }),
  volume_threshold: Type.Integer({
    description: 'Requests within the window below which the circuit stays closed. 0 means 10.',
    examples: [10],
    minimum: 0,
    maximum: 4_294_967_295,
  }),
  error_threshold_percentage: Type.Number({
    description: 'Share of failing answers (500 and above), from 0 to 1, above which the circuit opens.',
    examples: [0.5],
    minimum: 0,
    maximum: 1,
  }),
};

const Input = moduleInput(
  'CircuitBreaker',
  {
    tripped_duration: Type.Optional(Type.Integer({ ...fields.tripped_duration, default: 10 })),
    rolling_window: Type.Optional(Type.Integer({ ...fields.rolling_window, default: 10 })),
    num_buckets: Type.Optional(Type.Integer({ ...fields.num_buckets, default: 10 })),
    volume_threshold: Type.Optional(Type.Integer({ ...fields.volume_threshold, default: 10 })),
    error_threshold_percentage: Type.Optional(Type.Number({ ...fields.error_threshold_percentage, default: 0.5 })),
  },
  'Protects an upstream that fails: while too many of its answers are errors, requests get 503 at once. Each process of the gateway counts for itself, and starts again from zero after a change of these settings.',
);

const View = moduleView('CircuitBreaker', { ...fields });

type CircuitBreakerSettings = Static<typeof View>;

/** The form in which release 0.2 has stored what agents ask for. */
interface FormerSettings {
  readonly enabled: boolean;
  readonly error_threshold: number;
}

/** Spares an upstream that fails. Each process counts for itself. */
export const circuitBreaker: EdgeModule<Static<typeof Input>, CircuitBreakerSettings> = {
  name: 'circuit_breaker',
  title: 'Circuit Breaker',
  targets: ['https_route', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: [circuitOpen],
  accept,
  isSame: (input, stored) => JSON.stringify(accept(input)) === JSON.stringify(current(stored)),
  present: (settings) => settings,
  build(settings) {
    const { tripped_duration, rolling_window, num_buckets, volume_threshold, error_threshold_percentage } =
      current(settings);
    const rules = {
      threshold: error_threshold_percentage,
      leastRequests: volume_threshold,
      windowMs: rolling_window * 1000,
      parts: num_buckets,
      openMs: tripped_duration * 1000,
    };
    return { steps: [breakerStep(rules)] };
  },
};

/** Asked right before the upstream is, and told of its answer. */
function breakerStep(rules: BreakerRules): RequestStep {
  const stateKey = `circuit_breaker ${JSON.stringify(rules)}`;
  const newBreaker = (): Breaker => new Breaker(rules, () => performance.now());
  const run = (visit: RequestVisit): UserError | undefined => {
    const attempt = visit.kept(stateKey, newBreaker).attempt();
    if (attempt === undefined) return new UserError(circuitOpen, retryLater);
    visit.circuits = [...visit.circuits, attempt];
    return undefined;
  };
  return requestEffect('forward', run, { stateKey });
}

/** Official clients send 0 for what was not given; only the share can mean it. */
function accept(input: Static<typeof Input>): CircuitBreakerSettings {
  return {
    enabled: input.enabled ?? true,
    tripped_duration: input.tripped_duration || 10,
    rolling_window: input.rolling_window || 10,
    num_buckets: input.num_buckets || 10,
    volume_threshold: input.volume_threshold || 10,
    error_threshold_percentage: input.error_threshold_percentage ?? 0.5,
  };
}

function current(settings: CircuitBreakerSettings | FormerSettings): CircuitBreakerSettings {
  if (!('error_threshold' in settings)) return settings;
  return accept({ enabled: settings.enabled, error_threshold_percentage: settings.error_threshold });
}
