import type { Queries } from '../../store/database.ts';
import type { Labels } from '../labels.ts';
import { serviceKey } from '../services.ts';

/** The kind of the observed change that says: the tunnels of a group are others now. */
export const membersKind = 'tunnel_group_members';

export interface TunnelGroups {
  /** Groups of the account that a tunnel with these labels belongs to. */
  matching(queries: Queries, accountId: string, labels: Labels): Promise<readonly { readonly id: string }[]>;
  /** Path of the collection. */
  readonly path: string;
}

export const tunnelGroups = serviceKey<TunnelGroups>('tunnel groups');
