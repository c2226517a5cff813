import type { EndpointOptions, EndpointProto } from '../../agents/wire/options.ts';
import { UserError } from '../../errors/user-error.ts';
import { acceptEndpointPolicy, missingIpPolicy } from '../../modules/index.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';

interface Holder {
  readonly proto: EndpointProto;
  readonly isInternal: boolean;
  readonly accountId: string;
}

type Context = Pick<ResourceContext, 'referables' | 'store' | 'settings'>;

/** The text of the policy that an agent asks for; undefined: none. Throws for one that its endpoint cannot have. */
export async function policyAsked(
  { trafficPolicy, formerPolicy }: Pick<EndpointOptions, 'trafficPolicy' | 'formerPolicy'>,
  holder: Holder,
  context: Context,
): Promise<string | undefined> {
  if (trafficPolicy !== undefined && formerPolicy !== undefined) throw new UserError(errors.twoPolicies);
  const text = formerPolicy === undefined ? trafficPolicy : toText(formerPolicy, holder.proto);
  if (text !== undefined) await checkPolicy(text, holder, context);
  return text;
}

/** Throws the error of the hosted service for a policy that the endpoint cannot have. */
export async function checkPolicy(
  text: string,
  { proto, isInternal, accountId }: Holder,
  { referables, store, settings }: Context,
): Promise<void> {
  try {
    const { ipPolicyIds } = acceptEndpointPolicy(text, { scheme: proto, isInternal, isCloud: false });
    for (const id of ipPolicyIds)
      if (!(await referables.exists(store.queries, 'ip_policy', accountId, id))) throw missingIpPolicy(id);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const reason = `${error.message} (${settings.errorPrefix}${error.code})`;
    throw new UserError(errors.invalidTrafficPolicy, { reason });
  }
}

/** The directions of older agents are phases by now. Undefined: it is switched off. */
function toText(former: Readonly<Record<string, unknown>>, proto: EndpointProto): string | undefined {
  const { enabled = true, inbound, outbound, ...others } = former;
  if (enabled === false) return undefined;
  const isHttp = proto === 'http' || proto === 'https';
  const phases = {
    ...(inbound === undefined || inbound === null ? {} : { [isHttp ? 'on_http_request' : 'on_tcp_connect']: inbound }),
    ...(outbound === undefined || outbound === null ? {} : { on_http_response: outbound }),
  };
  // Unknown keys are refused by their names, as in a text.
  return JSON.stringify({ ...others, ...phases });
}
