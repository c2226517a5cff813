import { refusedByModule, unloadable } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp } from '../lib/ip/address.ts';
import { connectionCheck } from './step.ts';
import type { ConnectionStep, ConnectionVisit } from './step.ts';

/** Admits visits by their source. `policyIds`: the policies that it asks. */
export function addressStep(admits: (visit: ConnectionVisit) => boolean, policyIds: readonly string[]): ConnectionStep {
  return connectionCheck('connection', (visit) => {
    if (admits(visit)) return undefined;
    const { services, source, hostname: host } = visit;
    return services.access.isUnloadable(policyIds)
      ? new UserError(unloadable, { host, what: 'an IP rule' })
      : new UserError(refusedByModule, { address: formatIp(source) });
  });
}
