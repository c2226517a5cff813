import { LeaseLostError } from '../../acme/storage.ts';
import type { AcmeStorage, Job } from '../../acme/storage.ts';
import { newId, toTimestamp } from '../../lib/ids.ts';
import type { Queries } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import { managedDomains } from '../reserved-domains/service.ts';
import { holdsLease, releaseLease, takeLease } from '../lease.ts';
import type { ResourceContext } from '../resource.ts';
import { certificateNames, issuedCertificates } from '../tls-certificates/service.ts';
import { challengeKind, jobId, readJobs } from './table.ts';

type Context = Pick<ResourceContext, 'store' | 'sealer' | 'services'>;
type Writer = Pick<ObservationWriter, 'all' | 'run'>;

const leaseTable = 'acme_lease';
/** Notes of orders are kept for a day. */
const keptOrdersMs = 86_400_000;

export const accountContext = (directory: string) => `acme account ${directory}`;
export const jobContext = (id: string) => `acme job ${id}`;

export function createAcmeStorage(context: Context): AcmeStorage {
  const { store, sealer } = context;
  /** One short transaction under the lease. */
  const held = <T>(holder: string, work: (writer: ObservationWriter) => Promise<T>): Promise<T> =>
    store.writeUnlogged(async (writer) => {
      await checkLease(writer, holder);
      return work(writer);
    });
  return {
    takeLease: (holder, leaseMs) => takeLease(store, leaseTable, holder, leaseMs),
    releaseLease: async (holder) => {
      await releaseLease(store, leaseTable, holder);
    },
    loadJobs: () => readJobs(store.queries),
    async loadKey(job) {
      const [row] = await store.queries.all('SELECT sealed_key FROM acme_jobs WHERE id = $1', [jobId(job)]);
      const sealed = row?.[0];
      return typeof sealed === 'string' ? sealer.open(sealed, jobContext(jobId(job))) : undefined;
    },
    saveJob: (holder, job, keyPem) =>
      held(holder, (writer) => {
        const sealed = keyPem === undefined ? undefined : sealer.seal(keyPem, jobContext(jobId(job)));
        return writeJob(writer, job, sealed);
      }),
    async loadAccount(directory) {
      const sql = 'SELECT url, sealed_key, replaced_at FROM acme_accounts WHERE directory = $1';
      const [row] = await store.queries.all(sql, [directory]);
      if (row === undefined) return undefined;
      const [url, sealed, replacedAt] = row;
      return {
        keyPem: sealer.open(String(sealed), accountContext(directory)),
        ...(url === null ? {} : { url: String(url) }),
        ...(replacedAt === null ? {} : { replacedAt: String(replacedAt) }),
      };
    },
    saveAccount: (holder, directory, { keyPem, url, replacedAt }) =>
      held(holder, async (writer) => {
        const sql = `INSERT INTO acme_accounts (directory, url, sealed_key, replaced_at) VALUES ($1, $2, $3, $4)
          ON CONFLICT (directory) DO UPDATE
          SET url = excluded.url, sealed_key = excluded.sealed_key, replaced_at = excluded.replaced_at`;
        const sealed = sealer.seal(keyPem, accountContext(directory));
        await writer.run(sql, [directory, url ?? null, sealed, replacedAt ?? null]);
      }),
    noteOrder: (holder, { accountId, isRenewal }, nowMs) =>
      held(holder, async (writer) => {
        await writer.run('DELETE FROM acme_orders WHERE started_at < $1', [toTimestamp(nowMs - keptOrdersMs)]);
        const values = [newId('acmeorder'), toTimestamp(nowMs), accountId ?? null, isRenewal ? 1 : 0];
        await writer.run(
          'INSERT INTO acme_orders (id, started_at, account_id, renewal) VALUES ($1, $2, $3, $4)',
          values,
        );
      }),
    async loadOrders(sinceMs) {
      const sql = 'SELECT account_id, renewal FROM acme_orders WHERE started_at >= $1';
      const rows = await store.queries.all(sql, [toTimestamp(sinceMs)]);
      return rows.map(([accountId, renewal]) => ({
        accountId: accountId === null ? undefined : String(accountId),
        isRenewal: Number(renewal) === 1,
      }));
    },
    publish: (holder, challenge) =>
      held(holder, async (writer) => {
        const sql = `INSERT INTO acme_challenges (id, document) VALUES ($1, $2)
          ON CONFLICT (id) DO UPDATE SET document = excluded.document`;
        await writer.run(sql, [challenge.id, JSON.stringify(challenge)]);
        writer.record({ accountId: '', kind: challengeKind, id: challenge.id });
      }),
    withdraw: (holder, id) =>
      held(holder, async (writer) => {
        const rows = await writer.all('SELECT id FROM acme_challenges WHERE id = COALESCE($1, id)', [id ?? null]);
        for (const [each] of rows) {
          await writer.run('DELETE FROM acme_challenges WHERE id = $1', [String(each)]);
          writer.record({ accountId: '', kind: challengeKind, id: String(each) });
        }
      }),
    install: (holder, job, issued) => install(context, holder, job, issued),
    forget: (holder, job, endedMs) => forget(context, holder, job, endedMs),
  };
}

async function forget({ store, services }: Context, holder: string, job: Job, endedMs: number): Promise<boolean> {
  const { accountId, certificateId = '' } = job;
  const forgetJob = (writer: Pick<Writer, 'run'>) => writer.run('DELETE FROM acme_jobs WHERE id = $1', [jobId(job)]);
  if ((await services.get(certificateNames).find(store.queries, accountId, certificateId)) === undefined) {
    return store.writeUnlogged(async (writer) => {
      await checkLease(writer, holder);
      await forgetJob(writer);
      return true;
    });
  }
  const actor = { id: 'host', accountId, operationId: newId('op') };
  return store.write(actor, async (transaction) => {
    await checkLease(transaction, holder);
    const certificates = services.get(issuedCertificates);
    if (!(await certificates.removeUnused(transaction, accountId, certificateId, endedMs))) return false;
    await forgetJob(transaction);
    return true;
  });
}

async function install(
  { store, services }: Context,
  holder: string,
  job: Job,
  { renewsAt, renewalId, ...pair }: Parameters<AcmeStorage['install']>[2],
): Promise<string> {
  const { accountId, hostname, keyType, certificateId: previousId } = job;
  const actor = { id: 'host', accountId, operationId: newId('op') };
  return store.write(actor, async (transaction) => {
    await checkLease(transaction, holder);
    const certificates = services.get(issuedCertificates);
    const certificateId = await certificates.add(transaction, accountId, pair);
    await services.get(managedDomains).attach(transaction, accountId, hostname, certificateId);
    if (previousId !== undefined) await certificates.removeUnused(transaction, accountId, previousId);
    const renewal = { renewsAt, ...(renewalId === undefined ? {} : { renewalId }) };
    await writeJob(transaction, { accountId, hostname, keyType, failures: 0, certificateId, ...renewal }, null);
    return certificateId;
  });
}

async function checkLease(queries: Pick<Queries, 'all'>, holder: string): Promise<void> {
  if (!(await holdsLease(queries, leaseTable, holder)))
    throw new LeaseLostError('another process looks after public certificates');
}

/** `undefined` keeps the key that is stored, `null` removes it. */
async function writeJob(writer: Pick<Writer, 'run'>, job: Job, sealedKey: string | null | undefined): Promise<void> {
  const kept = sealedKey === undefined ? '' : ', sealed_key = excluded.sealed_key';
  const sql = `INSERT INTO acme_jobs (id, hostname, document, sealed_key) VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET document = excluded.document${kept}`;
  await writer.run(sql, [jobId(job), job.hostname, JSON.stringify(job), sealedKey ?? null]);
}
