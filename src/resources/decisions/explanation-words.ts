import type { DecisionRow } from '../../decisions/columns.ts';
import { parseIp } from '../../lib/ip/address.ts';
import type { Met, VisitRun } from '../visit-run.ts';
import { because, judgeBy, whyRefused } from '../visit-reasons.ts';
import type { RulesByPolicy } from '../visit-reasons.ts';
import type { presentDecision } from '../decision-view.ts';

const itself = (id: string): string => id;

/** Why something has its effect. `decided`: the decision, where it was made by that configuration. */
export function reasonOf(
  { effect, policyIds, step, reason }: Met,
  rules: RulesByPolicy,
  source: string,
  decided: DecisionRow | undefined,
): string {
  if (reason !== undefined) return reason;
  if (effect === 'not_reached') return 'something before it has decided';
  const address = parseIp(source);
  const byAddress = address === undefined ? '' : because(judgeBy(policyIds, rules).rule, address);
  if (step === undefined) return effect === 'warns' ? `it only warns: ${byAddress}` : byAddress;
  const { asks, status, warns, code } = step;
  switch (effect) {
    case 'answers':
      return `it answers with the status ${status}`;
    case 'warns':
      return `it is not enforced, and ${warns.join(' and ')} would refuse`;
    case 'not_served':
      return `it fails with the error ${code}`;
    case 'depends':
      return `it goes by ${asks?.by ?? 'more of the request than is kept'}, which is not kept${asRecorded(step.module, decided)}`;
    case 'refuses':
      return policyIds.length > 0 ? byAddress : whyRefused(asks, itself);
    default:
      if (policyIds.length > 0) return byAddress;
      return asks === undefined
        ? 'it lets such a visit in'
        : `it goes by ${asks.by}, and that of this visitor is enough`;
  }
}

/** What became of a step that depends on more than is kept, by the decision itself. */
function asRecorded(module: string, decided: DecisionRow | undefined): string {
  if (decided === undefined) return '';
  if (decided.verdict === 'refused') return decided.module === module ? '; it has refused this visit' : '';
  return decided.module === '' && decided.code === 0 ? '; it has let this visit pass' : '';
}

/** The decision as it was made, as a sentence. */
export function whatWasDecided(
  { verdict, module, restrictions, at, status }: ReturnType<typeof presentDecision>,
  run: VisitRun | undefined,
): string {
  const answered = status === undefined ? '' : ` with the status ${status}`;
  if (verdict !== 'refused') return `It was let in at ${at}${answered === '' ? '' : `, and answered${answered}`}.`;
  const restriction = restrictions?.[0] ?? (run?.by?.kind === 'ip_restriction' ? run.by.id : undefined);
  const by =
    module !== undefined
      ? `the module ${module}`
      : restriction !== undefined
        ? `the IP restriction ${restriction}`
        : 'the gateway';
  return `It was refused at ${at} by ${by}${answered}.`;
}
