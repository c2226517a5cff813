import type { ReservedDomain } from '../../../client/src/index.ts';
import { Time } from '../components/time.tsx';
import { Verdict } from '../components/verdict.tsx';
import { formatTime } from '../lib/time.ts';

type ManagementStatus = ReservedDomain['certificate_management_status'];

/** How far the authority is with a certificate, in its own words where it has refused. */
export function ManagementState({
  status,
  hasCertificate,
}: {
  readonly status: ManagementStatus;
  /** One that was issued before is shown meanwhile, so that a failure hurts nobody yet. */
  readonly hasCertificate: boolean;
}) {
  const job = status?.provisioning_job ?? null;
  if (job === null)
    return hasCertificate ? <Verdict tone="allow">Issued</Verdict> : <Verdict tone="off">Waits</Verdict>;
  if (job.error_code === null) {
    return (
      <>
        <Verdict tone="off">{hasCertificate ? 'Being renewed' : 'Being ordered'}</Verdict>
        <span className="sub words">{job.msg}</span>
      </>
    );
  }
  return (
    <>
      <Verdict tone={hasCertificate ? 'warn' : 'deny'}>{hasCertificate ? 'Renewal failed' : 'Not issued'}</Verdict>
      <span className="sub words">{job.msg}</span>
      <span className="sub words">
        <Time at={job.started_at} /> · <code>{job.error_code}</code>
        {job.retries_at === null ? ' · tried again now' : ` · tried again ${formatTime(job.retries_at)}`}
      </span>
    </>
  );
}
