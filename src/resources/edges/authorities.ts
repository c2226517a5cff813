import { referencedIds } from '../../modules/index.ts';
import type { ModuleSettings } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { clientAuthorities } from '../certificate-authorities/service.ts';
import type { Services } from '../services.ts';
import type { HasModules, StoredModules } from './module-fields.ts';

/** The certificates of all authorities that these edges name, by id. */
export async function loadAuthorities(
  services: Services,
  queries: Queries,
  edges: readonly HasModules[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(edges.flatMap(({ modules }) => [...referencedIds(modules, 'certificate_authority')]));
  return ids.size === 0 ? new Map<string, string>() : services.get(clientAuthorities).pems(queries, [...ids]);
}

/** The modules, with the certificates of authorities: these never change, so that they can stand in an entry. */
export function withAuthorities(modules: StoredModules, pems: ReadonlyMap<string, string>): ModuleSettings {
  const ids = [...referencedIds(modules, 'certificate_authority')];
  if (ids.length === 0) return modules;
  // Without one of them nobody can be checked as was asked for: then the edge is closed.
  const ca_pem = ids.every((id) => pems.has(id)) ? ids.map((id) => pems.get(id)).join('') : '';
  return { ...modules, mutual_tls: { enabled: modules['mutual_tls']?.enabled === true, ca_pem } };
}
