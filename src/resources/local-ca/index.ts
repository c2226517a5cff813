import { newId } from '../../lib/ids.ts';
import { plainPrefix } from '../../lib/sealed-secret.ts';
import type { CertificatePair, LocalCaStorage } from '../../snapshot/local-ca.ts';
import type { Row } from '../../store/database.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { localCa } from './service.ts';

const sealContext = 'local_ca';

/** The installation's own certificate authority, made once and shared by all processes. */
export const localCaResource: Resource = {
  migrations: [
    {
      name: '0010 local certificate authority',
      sql: `
        CREATE TABLE local_ca (
          one INTEGER PRIMARY KEY CHECK (one = 1),
          certificate_pem TEXT NOT NULL,
          private_key TEXT NOT NULL
        );
      `,
    },
  ],
  schemas: [],
  operations: () => [],
  provide(context) {
    context.services.provide(localCa, createStorage(context));
    context.services.add(storedSecrets, {
      async oldest(form) {
        const [row] = await context.store.queries.all('SELECT private_key FROM local_ca');
        const sealed = String(row?.[0]);
        if (row === undefined || sealed.startsWith(plainPrefix) !== (form === 'plain')) return undefined;
        return { owner: 'the local certificate authority', sealed, context: sealContext };
      },
      sealPlain: () =>
        sealPlainRows(context, { table: 'local_ca', id: 'one', column: 'private_key', contextOf: () => sealContext }),
    });
  },
  hostCommands: [
    {
      name: 'ca show',
      summary: 'print the certificate that clients must trust for edges without a certificate of their own',
      options: [],
      async run({ services }) {
        const pair = await services.get(localCa).load();
        if (pair === undefined) throw new Error('there is none yet: the gateway makes it at its first start');
        return pair.certificatePem.trimEnd();
      },
    },
  ],
};

function createStorage({ store, sealer }: Pick<ResourceContext, 'store' | 'sealer'>): LocalCaStorage {
  const sql = 'SELECT certificate_pem, private_key FROM local_ca';
  const read = (row: Row | undefined): CertificatePair | undefined =>
    row && { certificatePem: String(row[0]), privateKeyPem: sealer.open(String(row[1]), sealContext) };
  return {
    async load() {
      const [row] = await store.queries.all(sql);
      return read(row);
    },
    save: ({ certificatePem, privateKeyPem }) =>
      store.write({ id: 'host', accountId: '', operationId: newId('op') }, async (transaction) => {
        const [existing] = await transaction.all(sql);
        if (existing !== undefined) return read(existing) ?? { certificatePem, privateKeyPem };
        const sealed = sealer.seal(privateKeyPem, sealContext);
        await transaction.run('INSERT INTO local_ca (one, certificate_pem, private_key) VALUES (1, $1, $2)', [
          certificatePem,
          sealed,
        ]);
        const after = JSON.stringify({ certificate_pem: certificatePem });
        transaction.record({ accountId: '', kind: 'local_ca', id: 'local_ca', before: null, after, cascades: false });
        return { certificatePem, privateKeyPem };
      }),
  };
}
