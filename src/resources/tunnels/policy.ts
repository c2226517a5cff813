import type { EndpointOptions, EndpointProto } from '../../agents/wire/options.ts';
import { UserError } from '../../errors/user-error.ts';
import { acceptEndpointPolicy, missingIpPolicy } from '../../modules/index.ts';
import { preparePolicy, toPhases } from '../../modules/traffic-policy/service.ts';
import { checkSecrets } from '../named-secrets.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';

interface Holder {
  readonly proto: EndpointProto;
  readonly isInternal: boolean;
  readonly accountId: string;
}

type Context = Pick<ResourceContext, 'referables' | 'services' | 'store'>;

/** A policy that has been checked. */
export interface AgentPolicy {
  readonly text: string;
  /** Estimate of the memory that it takes. */
  readonly kib: number;
}

/** The policy that an agent asks for; undefined: none. Throws for one that its endpoint cannot have. */
export async function policyAsked(
  { trafficPolicy, formerPolicy }: Pick<EndpointOptions, 'trafficPolicy' | 'formerPolicy'>,
  holder: Holder,
  context: Context,
): Promise<AgentPolicy | undefined> {
  if (trafficPolicy !== undefined && formerPolicy !== undefined) throw new UserError(errors.twoPolicies);
  const text = formerPolicy === undefined ? trafficPolicy : toText(formerPolicy, holder.proto);
  return text === undefined ? undefined : checkPolicy(text, holder, context);
}

/** Throws the error of the hosted service for a policy that the endpoint cannot have. */
export async function checkPolicy(
  text: string,
  { proto, isInternal, accountId }: Holder,
  { referables, services, store }: Context,
): Promise<AgentPolicy> {
  await preparePolicy(text);
  try {
    const { ipPolicyIds, secrets, kib } = acceptEndpointPolicy(text, { scheme: proto, isInternal, isCloud: false });
    await checkSecrets(services, store.queries, accountId, secrets);
    for (const id of ipPolicyIds)
      if (!(await referables.exists(store.queries, 'ip_policy', accountId, id))) throw missingIpPolicy(id);
    return { text, kib };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // Without the prefix: agents of the Go family take the first code in a text for that of the error.
    const reason = `${error.message} (error ${error.code})`;
    throw new UserError(errors.invalidTrafficPolicy, { reason });
  }
}

/** The directions of older agents are phases by now. Undefined: it is switched off. */
function toText(former: Readonly<Record<string, unknown>>, proto: EndpointProto): string | undefined {
  const { enabled = true, ...others } = former;
  return enabled === false ? undefined : JSON.stringify(toPhases(others, proto === 'http' || proto === 'https'));
}
