import type { BindRequest } from '../../agents/wire/bind.ts';
import { UserError } from '../../errors/user-error.ts';
import { hasPrefix, idBody } from '../../lib/ids.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { AgentCredential } from '../credentials/service.ts';
import type { ResourceSettings } from '../resource.ts';
import type { Services } from '../services.ts';
import * as errors from './errors.ts';
import { tunnelClaims } from './table.ts';
import type { TunnelClaim } from './table.ts';

/** The agent that asks. */
export interface Claimant {
  readonly clientId: string;
  readonly sessionId: string;
  readonly credential: AgentCredential;
}

/** An endpoint that is asked for, and what its name or port is chosen by; in the transaction that stores it. */
export interface Choice {
  readonly services: Services;
  readonly settings: ResourceSettings;
  readonly writer: ObservationWriter;
  readonly claimant: Claimant;
  readonly request: BindRequest;
}

/** Subject of a claim: a name, a port, or labels. */
export type Place = Pick<TunnelClaim, 'kind' | 'key' | 'url' | 'plain' | 'hostname' | 'port' | 'labels' | 'internal'>;

/** A tunnel and the endpoint that was made for it have ids that differ in their prefix only. */
export function claimIdOf(tunnelId: string): string {
  return hasPrefix(tunnelId, 'tn') ? `${tunnelClaims.prefix}_${idBody(tunnelId)}` : '';
}

export async function claimOf(writer: ObservationWriter, key: string): Promise<TunnelClaim | undefined> {
  const [row] = await writer.all('SELECT document FROM tunnel_claims WHERE claim_key = $1', [key]);
  return row && tunnelClaims.parse(row);
}

/** The claim of the same tunnel before a reconnect, for agents that do not repeat themselves what they had. */
export async function formerClaim({ writer, claimant, request }: Choice): Promise<TunnelClaim | undefined> {
  if (request.id === '') return undefined;
  return tunnelClaims.find(writer, claimant.credential.accountId, claimIdOf(request.id));
}

export function refuseByAcl({ credential: { id, acl } }: Claimant, asked: string): UserError {
  return new UserError(errors.bindRefusedByAcl, { credential: id, asked, allowed: acl.texts.join(', ') });
}
