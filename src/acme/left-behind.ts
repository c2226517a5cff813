import { keyOf, wildcardKeyOf } from './plan.ts';
import type { PlanInput } from './plan.ts';
import type { Job } from './storage.ts';

type Input = Pick<PlanInput, 'wanted' | 'certificates' | 'jobs' | 'nowMs'> & {
  /** Time for which something is kept after its end. */
  readonly keepMs: number;
};

/** The jobs of names that nothing has any more, and whose certificate and last attempt are over for so long. */
export function jobsLeftBehind({ wanted, certificates, jobs, nowMs, keepMs }: Input): readonly Job[] {
  const inUse = new Set(wanted.flatMap((name) => [keyOf(name), wildcardKeyOf(name)]));
  const byId = new Map(certificates.map((each) => [each.id, each]));
  return jobs.filter((job) => {
    if (inUse.has(keyOf(job))) return false;
    const certificate = byId.get(job.certificateId ?? '');
    const { retriesAt, startedAt, renewsAt } = job;
    const times = [retriesAt, startedAt, renewsAt].map((time) => (time === undefined ? 0 : Date.parse(time)));
    return Math.max(certificate?.notAfterMs ?? 0, ...times) + keepMs <= nowMs;
  });
}
