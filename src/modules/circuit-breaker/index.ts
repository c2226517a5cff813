import { Type } from 'typebox';
import type { Static } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { enabledInput, enabledView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { Breaker } from './breaker.ts';
import * as errors from './errors.ts';

const threshold = Type.Number({ minimum: 0, maximum: 1 });

const Input = Type.Object(
  { enabled: enabledInput, error_threshold: threshold },
  { $id: 'CircuitBreakerModuleReplace', additionalProperties: false },
);

const View = Type.Object(
  { enabled: enabledView, error_threshold: threshold },
  { $id: 'CircuitBreakerModule', additionalProperties: false },
);

interface CircuitBreakerSettings {
  readonly enabled: boolean;
  /** Share of failing answers, from 0 to 1, above which requests are refused. */
  readonly error_threshold: number;
}

const retryLater = { 'Retry-After': '1' };

/** Spares an upstream that fails. Each process counts for itself. */
export const circuitBreaker: EdgeModule<Static<typeof Input>, CircuitBreakerSettings> = {
  name: 'circuit_breaker',
  title: 'Circuit Breaker',
  targets: ['agent_endpoint'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept: ({ enabled = true, error_threshold }) => ({ enabled, error_threshold }),
  present: (settings) => settings,
  build({ error_threshold }) {
    const breaker = new Breaker(error_threshold, () => performance.now());
    return {
      breaker: {
        refusal: () => (breaker.mayPass() ? undefined : new UserError(errors.circuitOpen, retryLater)),
        answered: (status) => {
          breaker.answered(status >= 500);
        },
      },
    };
  },
};
