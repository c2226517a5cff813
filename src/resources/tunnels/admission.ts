import type { Admission, AgentSource } from '../../agents/server/host.ts';
import type { AuthRequest } from '../../agents/wire/auth.ts';
import { UserError } from '../../errors/user-error.ts';
import { agentCredentials } from '../credentials/service.ts';
import type { AgentCredential } from '../credentials/service.ts';
import { principals } from '../principals/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { checkSessions } from './rows.ts';
import type { AgentHostOptions } from './service.ts';

/** Lets an agent in, by its token, the address it comes from and the sessions that its credential has. */
export async function admit(
  { token, clientId }: AuthRequest,
  source: AgentSource,
  { services, store }: ResourceContext,
  options: AgentHostOptions,
): Promise<Admission> {
  const { accountId, id, acl } = await authenticate(token, source, { services }, options);
  const { refusedBy, warnedBy } = options.access.admit(accountId, 'agent', source.ip);
  if (refusedBy !== undefined) throw new UserError(errors.agentSourceRefused, { address: source.text });
  if (warnedBy.length > 0) options.warned(warnedBy, source.ip);
  // Agents that come at once all pass here; those who are too many are refused when their sessions are stored.
  await checkSessions(store.queries, options, id, clientId);
  const accountName = await services.get(principals).accountName(accountId);
  return { accountId, accountName, credentialId: id, acl: acl.texts };
}

async function authenticate(
  token: string,
  source: AgentSource,
  { services }: Pick<ResourceContext, 'services'>,
  { answerGuess }: AgentHostOptions,
): Promise<AgentCredential> {
  const found = await services.get(agentCredentials).authenticate(token);
  if (found.verdict === 'valid') return found.credential;
  if (found.verdict === 'inactive_owner') throw new UserError(errors.credentialOwnerInactive);
  const fault = found.verdict === 'malformed' ? errors.agentTokenMalformed : errors.agentTokenUnknown;
  return answerGuess(new UserError(fault), () => source.ip);
}
