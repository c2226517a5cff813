import type { Job } from '../../acme/storage.ts';
import type { Call } from '../../api/call.ts';
import { certificateJobs } from '../acme/service.ts';
import type { Queries } from '../../store/database.ts';
import type { ResourceContext } from '../resource.ts';
import type { ReservedDomain } from './table.ts';

export async function presentAll(
  context: ResourceContext,
  queries: Queries,
  domains: readonly ReservedDomain[],
  call: Call,
): Promise<readonly object[]> {
  const { services } = context;
  const shown: object[] = [];
  for (const reserved of domains) {
    const { account_id, domain, certificate_management_policy: policy } = reserved;
    const job = policy && (await services.get(certificateJobs).find(queries, account_id, domain));
    shown.push(present(context, reserved, job, call));
  }
  return shown;
}

function present(
  { referables, settings }: ResourceContext,
  reserved: ReservedDomain,
  job: Job | undefined,
  { uri }: Call,
): object {
  const { id, created_at, description, metadata, domain, region, certificate_id } = reserved;
  const policy = reserved.certificate_management_policy;
  return {
    id,
    uri: uri(`/reserved_domains/${id}`),
    created_at,
    description,
    metadata,
    domain,
    region,
    cname_target: null,
    certificate:
      certificate_id === undefined
        ? null
        : { id: certificate_id, uri: uri(referables.pathOf('tls_certificate', certificate_id)) },
    certificate_management_policy: policy ?? null,
    certificate_management_status: policy === undefined ? null : statusOf(job, settings.errorPrefix, created_at),
    acme_challenge_cname_target: null,
    resolves_to: [{ value: 'global' }],
  };
}

/** Without a job the order has not begun. */
function statusOf(job: Job | undefined, errorPrefix: string, createdAt: string): object {
  const waiting = { error_code: null, msg: 'The certificate is going to be ordered.', started_at: createdAt };
  if (job === undefined) return { renews_at: null, provisioning_job: { ...waiting, retries_at: null } };
  const { renewsAt, startedAt, retriesAt, error } = job;
  const provisioning_job =
    startedAt === undefined
      ? null
      : {
          error_code: error === undefined ? null : `${errorPrefix}${error.code}`,
          msg: error?.message ?? 'The authority is issuing the certificate.',
          started_at: startedAt,
          retries_at: retriesAt ?? null,
        };
  return { renews_at: renewsAt ?? null, provisioning_job };
}
