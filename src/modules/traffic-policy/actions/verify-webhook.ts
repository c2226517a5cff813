import { UserError } from '../../../errors/user-error.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import { bool } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { createBodyCheck, providerOf, verifyBody } from '../../webhook-verification/service.ts';
import type { BodyCheck } from '../../webhook-verification/service.ts';
import { invalidValue } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';
import { errorField, errorValue } from './failure-result.ts';

/** Work of one check beside its digests. */
const unitsOfCheck = 200;

/** Lets only requests pass that a provider of webhooks has signed. */
export const verifyWebhook: Action = {
  type: 'verify-webhook',
  phases: ['on_http_request'],
  guards: true,
  result: { name: 'verify_webhook', fields: { verified: bool, error: errorField } },
  build(config) {
    const isEnforced = config.boolean('enforce') ?? true;
    const id = config.required('provider', config.text('provider'));
    const provider = providerOf(id);
    if (typeof provider === 'string') throw config.fault(invalidValue, 'provider', provider);
    const secret = config.required('secret', config.template('secret'));
    // The last one that was met; an expression names the same one almost always.
    let known: { readonly secret: string; readonly check: BodyCheck } | undefined;
    const checkWith = (text: string): BodyCheck => {
      if (text === '') throw new Error('it is empty, so that anybody could sign');
      if (known?.secret !== text) known = { secret: text, check: createBodyCheck(provider, text) };
      return known.check;
    };
    const checkOf = (visit: PolicyVisit): BodyCheck => {
      const text = secret.text(visit);
      try {
        return checkWith(text);
      } catch (error) {
        throw new EvaluationFault(`the secret cannot be one of ${provider.title}: ${reasonOf(error)}`);
      }
    };
    if (secret.constant !== undefined) {
      try {
        checkWith(secret.constant);
      } catch (error) {
        throw config.fault(invalidValue, 'secret', reasonOf(error));
      }
    }
    return {
      ends: false,
      guards: isEnforced,
      run(visit) {
        visit.spend(unitsOfCheck);
        const outcome = verifyBody(visit.request, checkOf(visit));
        if (outcome !== undefined && !(outcome instanceof UserError)) return outcome;
        visit.setResult('verify_webhook', () =>
          CelMap.of({ verified: outcome === undefined, ...(outcome !== undefined && { error: errorValue(outcome) }) }),
        );
        if (isEnforced) return outcome;
        return outcome === undefined ? undefined : visit.engine.warn('verify-webhook');
      },
      // Signatures may cover any header, and some list those that they cover.
      facts: { reads: 'all' },
    };
  },
};

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
