import { plainPrefix } from '../../../lib/sealed-secret.ts';
import type { ResourceContext } from '../../resource.ts';
import type { StoredSecrets } from '../../stored-secrets.ts';
import { httpsEdgeRoutes } from './table.ts';

/** A secret in the settings of a module, as `src/modules/sign-in-module.ts` keeps it, inside the text of a route. */
const keptSecret = /"digest":"([^"]+)","sealed":("(?:[^"\\]|\\.)*")/g;
const batchSize = 50;

/** Secrets of clients at identity providers, in the modules of routes. */
export function routeSecrets({ store, sealer }: Pick<ResourceContext, 'store' | 'sealer'>): StoredSecrets {
  const find = `SELECT id, account_id, document FROM https_edge_routes WHERE document LIKE $1 ORDER BY id LIMIT ${batchSize}`;
  const like = (form: 'encrypted' | 'plain') => `%"sealed":"${form === 'plain' ? plainPrefix : 'gcm1:'}%`;
  return {
    async oldest(form) {
      const [row] = await store.queries.all(find, [like(form)]);
      const [found] = String(row?.[2] ?? '').matchAll(keptSecret);
      if (row === undefined || found === undefined) return undefined;
      const [, digest = '', text = '""'] = found;
      return { owner: `the route ${String(row[0])}`, sealed: String(JSON.parse(text)), context: contextOf(digest) };
    },
    async sealPlain() {
      for (let total = 0; ;) {
        const sealed = await store.writeUnlogged(async (writer) => {
          const rows = await writer.all(find, [like('plain')]);
          for (const [id, accountId, document] of rows) {
            const text = String(document).replaceAll(keptSecret, (_, digest: string, kept: string) => {
              const plain = sealer.open(String(JSON.parse(kept)), contextOf(digest));
              return `"digest":"${digest}","sealed":${JSON.stringify(sealer.seal(plain, contextOf(digest)))}`;
            });
            await writer.run('UPDATE https_edge_routes SET document = $2 WHERE id = $1', [String(id), text]);
            writer.record({ accountId: String(accountId), kind: httpsEdgeRoutes.kind, id: String(id) });
          }
          return rows.length;
        });
        total += sealed;
        if (sealed < batchSize) return total;
      }
    },
  };
}

function contextOf(digest: string): string {
  return `client secret ${digest}`;
}
