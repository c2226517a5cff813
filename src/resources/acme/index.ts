import { plainPrefix } from '../../lib/sealed-secret.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import type { Resource } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { acmeStorage, certificateJobs, certificateTroubles } from './service.ts';
import { accountContext, createAcmeStorage, jobContext } from './storage.ts';
import { createCertificateTroubles } from './troubles.ts';
import { challengeKind, migrations, readChallenges, readJob } from './table.ts';

/** Every gateway answers a challenge, whichever process ordered the certificate. */
const challengeCompiler: Compiler = {
  kind: 'challenge',
  affectedIds: ({ kind, id }) => (kind === challengeKind ? [id] : []),
  async load(queries, ids) {
    // There are few of them.
    const all = await readChallenges(queries);
    return all.filter(({ id }) => ids === undefined || ids.includes(id));
  },
};

/** Orders of public certificates, and the account at the authority. */
export const acmeResource: Resource = {
  migrations,
  schemas: [],
  operations: () => [],
  compilers: () => [challengeCompiler],
  provide(context) {
    const { services, store } = context;
    services.provide(acmeStorage, createAcmeStorage(context));
    services.provide(certificateJobs, { find: readJob });
    services.provide(certificateTroubles, createCertificateTroubles(context));
    const isOf = (form: 'plain' | 'encrypted', sealed: string) => sealed.startsWith(plainPrefix) === (form === 'plain');
    services.add(storedSecrets, {
      async oldest(form) {
        const rows = await store.queries.all('SELECT directory, sealed_key FROM acme_accounts ORDER BY directory');
        const row = rows.find(([, sealed]) => isOf(form, String(sealed)));
        const directory = String(row?.[0]);
        const owner = `the account at ${directory}`;
        return row && { owner, sealed: String(row[1]), context: accountContext(directory) };
      },
      sealPlain: () =>
        sealPlainRows(context, {
          table: 'acme_accounts',
          id: 'directory',
          column: 'sealed_key',
          contextOf: accountContext,
        }),
    });
    services.add(storedSecrets, {
      async oldest(form) {
        const sql = 'SELECT id, hostname, sealed_key FROM acme_jobs WHERE sealed_key IS NOT NULL ORDER BY id';
        const row = (await store.queries.all(sql)).find(([, , sealed]) => isOf(form, String(sealed)));
        const owner = `the order of a certificate for ${String(row?.[1])}`;
        return row && { owner, sealed: String(row[2]), context: jobContext(String(row[0])) };
      },
      sealPlain: () =>
        sealPlainRows(context, { table: 'acme_jobs', id: 'id', column: 'sealed_key', contextOf: jobContext }),
    });
  },
};
