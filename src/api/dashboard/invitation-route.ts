import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { admitAddress, sourceOf } from '../admission/admit-caller.ts';
import type { Scope } from '../admission/caller.ts';
import type { Role } from '../admission/roles.ts';
import { secretIn } from '../body/secret-in.ts';
import { invitationOver } from '../errors.ts';
import { setCommonHeaders } from '../http/common-headers.ts';
import type { OperationContext } from '../register-operations.ts';
import { checkOwnPage, isFromDashboard } from './own-page.ts';
import type { IpAddress } from '../../lib/ip/address.ts';

/** More than any link, with room for the rest of the body. */
const bodyLimitBytes = 4_096;

export interface Invitations {
  /** The account that a token invites to; undefined where it invites nobody, or nobody any more. */
  accountOf(token: string): Promise<string | undefined>;
  /** The invitation that belongs to the token; undefined as above. */
  show(token: string): Promise<ShownInvitation | undefined>;
  /** Makes the user and a first API key; undefined where the invitation has ended since, or another call was sooner. */
  accept(token: string, call: AcceptingCall): Promise<AcceptedInvitation | undefined>;
}

export interface AcceptingCall {
  readonly operationId: string;
  readonly source: IpAddress;
  readonly scope: Scope;
}

/** The form of an answer. */
export interface ShownInvitation {
  readonly name: string;
  readonly email?: string | undefined;
  readonly role: Role;
  /** The name of the admin who invites. */
  readonly invited_by: string;
  /** The name of the account. */
  readonly account: string;
  readonly expires_at: string;
}

/** The form of an answer. */
export interface AcceptedInvitation {
  readonly user_id: string;
  readonly name: string;
  readonly role: Role;
  readonly api_key_id: string;
  readonly token: string;
}

const beforeToken = '#invite=';

export function invitationLink(base: string, token: string): string {
  return `${base}/dashboard/${beforeToken}${token}`;
}

/** Whoever has the link has no key yet. The address must be one that the account lets in by the same door. */
export async function registerInvitationRoute(scope: FastifyInstance, context: OperationContext): Promise<void> {
  const { options } = context;
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor));
  });
  const { invitations } = context.options;
  const on = (path: string, act: Act): void => {
    scope.post(path, { bodyLimit: bodyLimitBytes }, (request, reply) => answer(request, reply, context, act));
  };
  on('/invitations/show', (token) => invitations.show(token));
  on('/invitations/accept', (token, call) => invitations.accept(token, call));
}

/** Acts for the person who has a link; undefined if the link is no longer valid. */
type Act = (token: string, call: AcceptingCall) => Promise<object | undefined>;

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  context: OperationContext,
  act: Act,
): Promise<FastifyReply> {
  const { raw } = request;
  const { options, rates, admission } = context;
  const { invitations, failures, trustedProxies } = options;
  const scope = isFromDashboard(raw) ? 'dashboard' : 'api';
  if (scope === 'dashboard') checkOwnPage(raw, options);
  const token = tokenIn(secretIn(request.body, 'link'));
  const refuse = () => failures.answerGuess(new UserError(invitationOver), () => sourceOf(raw, trustedProxies));
  const accountId = await admission.authenticateUnknown(request, reply, () => invitations.accountOf(token));
  if (accountId === undefined) return refuse();
  const { source, warnedBy } = admitAddress(accountId, scope, raw, options);
  if (warnedBy.length > 0) options.warned(warnedBy, source);
  if (rates !== undefined) void reply.headers(rates.take(accountId));
  const done = await act(token, { operationId: request.id, source, scope });
  return done === undefined ? refuse() : reply.send(done);
}

/** Taken as the link, or as what stands behind it. */
function tokenIn(link: string): string {
  return link.slice(link.includes(beforeToken) ? link.indexOf(beforeToken) + beforeToken.length : 0).trim();
}
