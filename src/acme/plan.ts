import { Pace } from '../lib/pace.ts';
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

/** A job that is due. */
export interface DueJob {
  readonly job: Job;
  /** True: the certificate that was issued last is there, valid or not. */
  readonly isRenewal: boolean;
  /** End of that certificate, in milliseconds since 1970; 0 without one. */
  readonly endsMs: number;
}

/** The jobs that are due now: renewals first, and of those what ends first. Every name costs a few lookups. */
export async function dueJobs(input: PlanInput): Promise<readonly DueJob[]> {
  const pace = new Pace();
  const jobs = new Map(input.jobs.map((job) => [keyOf(job), job]));
  const askable = input.wanted.filter(({ hostname }) => whyNotAsked(hostname, input.hasDns) === undefined);
  const wildcards = new Set(askable.filter(({ hostname }) => hostname.startsWith('*.')).map(keyOf));
  if (pace.isDue) await pace.giveWay();
  const known = knownCertificates(input);
  const due: DueJob[] = [];
  for (const name of askable) {
    if (pace.isDue) await pace.giveWay();
    const { accountId, hostname, keyType, isManaged } = name;
    // The certificate of the wildcard is for this name too.
    const isBelow = !hostname.startsWith('*.') && wildcards.has(wildcardKeyOf(name));
    if (isBelow && !isManaged) continue;
    const job = jobs.get(keyOf(name)) ?? { accountId, hostname, keyType, failures: 0 };
    const found = known.byId.get(job.certificateId ?? '');
    const issued = found !== undefined && covers(found, name) ? found : undefined;
    if (!isDue(name, job, issued, known.endsMs, input.nowMs)) continue;
    due.push({ job: { ...job, keyType }, isRenewal: issued !== undefined, endsMs: issued?.notAfterMs ?? 0 });
  }
  return due.toSorted(inOrder);
}

interface KnownCertificates {
  readonly byId: ReadonlyMap<string, KnownCertificate>;
  /** End of the valid one that lasts longest, by `keyOf` each of its names. */
  readonly endsMs: ReadonlyMap<string, number>;
}

function knownCertificates({ certificates, nowMs }: PlanInput): KnownCertificates {
  const endsMs = new Map<string, number>();
  for (const certificate of certificates) {
    if (!isValid(certificate, nowMs)) continue;
    const { accountId, names, notAfterMs } = certificate;
    for (const hostname of names) {
      const key = keyOf({ accountId, hostname });
      endsMs.set(key, Math.max(endsMs.get(key) ?? 0, notAfterMs));
    }
  }
  return { byId: new Map(certificates.map((each) => [each.id, each])), endsMs };
}

function isValid({ notBeforeMs, notAfterMs }: KnownCertificate, nowMs: number): boolean {
  return notBeforeMs <= nowMs && nowMs < notAfterMs;
}

/** The reason why no certificate is ordered for the name. */
function whyNotAsked(hostname: string, hasDns: boolean): string | undefined {
  if (hostname.startsWith('*.') && !hasDns) return 'a wildcard needs GATEHOUSE_ACME_DNS_HOOK';
  return whyNotPublic(hostname);
}

function isDue(
  name: WantedName,
  job: Job,
  issued: KnownCertificate | undefined,
  endsMs: ReadonlyMap<string, number>,
  nowMs: number,
): boolean {
  if (job.retriesAt !== undefined && Date.parse(job.retriesAt) > nowMs) return false;
  if (job.orderUrl !== undefined) return true;
  const own = issued !== undefined && isValid(issued, nowMs) ? issued : undefined;
  // 0: no certificate is for the name.
  const endMs = Math.max(endsMs.get(keyOf(name)) ?? 0, endsMs.get(wildcardKeyOf(name)) ?? 0);
  const renewsAtMs = job.renewsAt === undefined ? 0 : Date.parse(job.renewsAt);
  if (own !== undefined && (nowMs < renewsAtMs || (!name.isManaged && endMs > own.notAfterMs))) {
    return name.isManaged && job.keyType !== name.keyType;
  }
  return own !== undefined || name.isManaged || endMs === 0;
}

function covers({ accountId, names }: KnownCertificate, name: WantedName): boolean {
  return accountId === name.accountId && (names.includes(name.hostname) || names.includes(wildcardOf(name.hostname)));
}

/** Renewals before new names, of either those that fail often last, and then what ends first. */
function inOrder(one: DueJob, other: DueJob): number {
  return (
    Number(other.isRenewal) - Number(one.isRenewal) ||
    one.job.failures - other.job.failures ||
    one.endsMs - other.endsMs ||
    Number(one.job.orderUrl === undefined) - Number(other.job.orderUrl === undefined)
  );
}

type AccountName = Pick<Job, 'accountId' | 'hostname'>;

export function keyOf({ accountId, hostname }: AccountName): string {
  return `${accountId} ${hostname}`;
}

/** Key of the wildcard that the name is below; its own, if it is one. */
export function wildcardKeyOf({ accountId, hostname }: AccountName): string {
  return keyOf({ accountId, hostname: wildcardOf(hostname) });
}

function wildcardOf(hostname: string): string {
  return `*${hostname.slice(hostname.indexOf('.'))}`;
}
