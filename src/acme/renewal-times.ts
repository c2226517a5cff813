import { toTimestamp } from '../lib/ids.ts';
import type { KnownCertificate } from './plan.ts';
import { askRenewalInfo, findRenewalUrl } from './renewal-info.ts';
import { nextAskMs, renewalWithin } from './schedule.ts';
import type { AcmeStorage, Job } from './storage.ts';

interface Parts {
  readonly storage: AcmeStorage;
  readonly holder: string;
  readonly directory: string;
  readonly certificates: readonly KnownCertificate[];
  readonly log: { info(fields: object, message: string): void };
  readonly signal: AbortSignal;
}

/** Questions in one round, so that a round ends soon; the others come with the next one. */
const questionsAtOnce = 100;

/**
 * Asks the authority when it wants its certificates to be renewed, where it offers that, and keeps to it. An authority that
 * does not answer changes nothing: certificates are renewed after two thirds of their lifetime.
 */
export async function followRenewalInfo(parts: Parts, nowMs: number): Promise<void> {
  const { storage, directory, log, signal } = parts;
  const jobs = (await storage.loadJobs()).filter((job) => isToBeAsked(job, nowMs)).slice(0, questionsAtOnce);
  if (jobs.length === 0) return;
  try {
    const url = await findRenewalUrl(directory);
    if (url === undefined) return;
    for (const job of jobs) {
      if (signal.aborted) return;
      await askAbout(parts, url, job, nowMs);
    }
  } catch (error) {
    log.info({ directory, err: error }, 'the authority was asked when to renew, and gave no answer that can be used');
  }
}

function isToBeAsked({ certificateId, renewalId, renewsAt, asksAt, orderUrl, error }: Job, nowMs: number): boolean {
  if (certificateId === undefined || renewalId === undefined || renewsAt === undefined) return false;
  // One whose renewal is under way or has failed is tried again by its own schedule.
  if (orderUrl !== undefined || error !== undefined) return false;
  return asksAt === undefined || Date.parse(asksAt) <= nowMs;
}

async function askAbout(parts: Parts, url: string, job: Job, nowMs: number): Promise<void> {
  const { storage, holder, certificates, log } = parts;
  const certificate = certificates.find(({ id }) => id === job.certificateId);
  const { renewalId, renewsAt } = job;
  if (certificate === undefined || renewalId === undefined || renewsAt === undefined) return;
  const { window, askedWaitMs } = await askRenewalInfo(url, renewalId);
  const chosen = toTimestamp(renewalWithin(window, certificate, Date.parse(renewsAt), Math.random()));
  await storage.saveJob(holder, { ...job, renewsAt: chosen, asksAt: toTimestamp(nowMs + nextAskMs(askedWaitMs)) });
  if (chosen === renewsAt) return;
  log.info({ name: job.hostname, renewsAt: chosen }, 'the authority has named the time to renew a certificate');
}
