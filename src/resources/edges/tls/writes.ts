import { UserError } from '../../../errors/user-error.ts';
import { endsUpstream } from '../../../modules/index.ts';
import type { ResourceContext } from '../../resource.ts';
import { edgeWrites } from '../edge-writes.ts';
import { certificatesUnread } from '../errors.ts';
import { acceptHostnames, claimedHostnames } from '../hostnames.ts';
import type { StoredModules } from '../module-fields.ts';
import { moveHostnames } from '../move-hostnames.ts';
import { hostnames, tlsEdges } from './table.ts';

export const target = 'tls_edge';

export function tlsEdgeWrites(context: ResourceContext) {
  const { settings } = context;
  return edgeWrites({
    table: tlsEdges,
    target,
    context,
    accept: (hostports) => acceptHostnames(hostports, settings.httpsPort),
    claimed: claimedHostnames,
    move: (transaction, edge, before, now) => moveHostnames(transaction, context, hostnames, edge, before, now),
    checkModules,
  });
}

export function checkModules(modules: StoredModules): void {
  if (modules['mutual_tls']?.enabled === true && !endsHere(modules)) throw new UserError(certificatesUnread);
}

/** Whether TLS ends at the edge; else its bytes are passed on unread. */
export function endsHere({ tls_termination: settings }: StoredModules): boolean {
  return settings?.enabled === true && !endsUpstream(settings);
}
