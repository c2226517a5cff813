import { whyNotPublic } from '../lib/public-name.ts';
import type { Job, KeyType } from './storage.ts';

/** A name that should have a certificate. */
export interface WantedName {
  readonly accountId: string;
  readonly hostname: string;
  readonly keyType: KeyType;
  /** True: its owner asked for a certificate of the authority, whatever else was uploaded. */
  readonly isManaged: boolean;
}

export interface KnownCertificate {
  readonly id: string;
  readonly accountId: string;
  readonly names: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface PlanInput {
  readonly wanted: readonly WantedName[];
  readonly certificates: readonly KnownCertificate[];
  readonly jobs: readonly Job[];
  readonly nowMs: number;
  /** True if records of the DNS can be made, which wildcards need. */
  readonly hasDns: boolean;
}

/** The jobs that are due now, those of names without any certificate first. */
export function dueJobs(input: PlanInput): readonly Job[] {
  const jobs = new Map(input.jobs.map((job) => [keyOf(job), job]));
  const askable = input.wanted.filter(({ hostname }) => whyNotAsked(hostname, input.hasDns) === undefined);
  const wildcards = new Set(askable.filter(({ hostname }) => hostname.startsWith('*.')).map(keyOf));
  const due = askable.flatMap((name) => {
    const { accountId, hostname, keyType, isManaged } = name;
    // The certificate of the wildcard is for this name too.
    const isBelow = !wildcards.has(keyOf(name)) && wildcards.has(keyOf({ accountId, hostname: wildcardOf(hostname) }));
    if (isBelow && !isManaged) return [];
    const job = jobs.get(keyOf(name)) ?? { accountId, hostname, keyType, failures: 0 };
    return isDue(name, job, input) ? [{ ...job, keyType }] : [];
  });
  return due.toSorted((one, other) => rank(one) - rank(other));
}

/** The reason why no certificate is ordered for the name. */
function whyNotAsked(hostname: string, hasDns: boolean): string | undefined {
  if (hostname.startsWith('*.') && !hasDns) return 'a wildcard needs GATEHOUSE_ACME_DNS_HOOK';
  return whyNotPublic(hostname);
}

function isDue(name: WantedName, job: Job, { certificates, nowMs }: PlanInput): boolean {
  if (job.retriesAt !== undefined && Date.parse(job.retriesAt) > nowMs) return false;
  if (job.orderUrl !== undefined) return true;
  const fitting = certificates.filter((each) => covers(each, name, nowMs));
  const own = fitting.find(({ id }) => id === job.certificateId);
  const others = fitting.filter((each) => each !== own);
  const renewsAtMs = job.renewsAt === undefined ? 0 : Date.parse(job.renewsAt);
  if (own !== undefined && (nowMs < renewsAtMs || (!name.isManaged && outlives(others, own)))) {
    return name.isManaged && job.keyType !== name.keyType;
  }
  return own !== undefined || name.isManaged || others.length === 0;
}

function outlives(others: readonly KnownCertificate[], own: KnownCertificate): boolean {
  return others.some(({ notAfterMs }) => notAfterMs > own.notAfterMs);
}

function covers(certificate: KnownCertificate, { accountId, hostname }: WantedName, nowMs: number): boolean {
  if (certificate.accountId !== accountId) return false;
  if (certificate.notBeforeMs > nowMs || certificate.notAfterMs <= nowMs) return false;
  return coversName(certificate.names, hostname);
}

/** True if a certificate for these names is also for the host name. */
export function coversName(names: readonly string[], hostname: string): boolean {
  return names.includes(hostname) || names.includes(wildcardOf(hostname));
}

/** New names before renewals, and those that fail often last. */
function rank({ certificateId, failures, orderUrl }: Job): number {
  return failures * 4 + (certificateId === undefined ? 0 : 2) + (orderUrl === undefined ? 1 : 0);
}

function keyOf({ accountId, hostname }: Pick<Job, 'accountId' | 'hostname'>): string {
  return `${accountId} ${hostname}`;
}

function wildcardOf(hostname: string): string {
  return `*${hostname.slice(hostname.indexOf('.'))}`;
}
