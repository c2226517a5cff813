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

/** The jobs that are due now, those of names without any certificate first. Every name costs a few lookups. */
export async function dueJobs(input: PlanInput): Promise<readonly Job[]> {
  const pace = new Pace();
  const jobs = new Map(input.jobs.map((job) => [keyOf(job), job]));
  const askable = input.wanted.filter(({ hostname }) => whyNotAsked(hostname, input.hasDns) === undefined);
  const wildcards = new Set(askable.filter(({ hostname }) => hostname.startsWith('*.')).map(keyOf));
  if (pace.isDue) await pace.giveWay();
  const valid = validCertificates(input);
  const due: Job[] = [];
  for (const name of askable) {
    if (pace.isDue) await pace.giveWay();
    const { accountId, hostname, keyType, isManaged } = name;
    // The certificate of the wildcard is for this name too.
    const isBelow = !hostname.startsWith('*.') && wildcards.has(wildcardKeyOf(name));
    if (isBelow && !isManaged) continue;
    const job = jobs.get(keyOf(name)) ?? { accountId, hostname, keyType, failures: 0 };
    if (isDue(name, job, valid, input.nowMs)) due.push({ ...job, keyType });
  }
  return due.toSorted((one, other) => rank(one) - rank(other));
}

interface ValidCertificates {
  readonly byId: ReadonlyMap<string, KnownCertificate>;
  /** End of the one that lasts longest, by `keyOf` each of its names. */
  readonly endsMs: ReadonlyMap<string, number>;
}

function validCertificates({ certificates, nowMs }: PlanInput): ValidCertificates {
  const valid = certificates.filter(({ notBeforeMs, notAfterMs }) => notBeforeMs <= nowMs && nowMs < notAfterMs);
  const endsMs = new Map<string, number>();
  for (const { accountId, names, notAfterMs } of valid) {
    for (const hostname of names) {
      const key = keyOf({ accountId, hostname });
      endsMs.set(key, Math.max(endsMs.get(key) ?? 0, notAfterMs));
    }
  }
  return { byId: new Map(valid.map((each) => [each.id, each])), endsMs };
}

/** The reason why no certificate is ordered for the name. */
function whyNotAsked(hostname: string, hasDns: boolean): string | undefined {
  if (hostname.startsWith('*.') && !hasDns) return 'a wildcard needs GATEHOUSE_ACME_DNS_HOOK';
  return whyNotPublic(hostname);
}

function isDue(name: WantedName, job: Job, { byId, endsMs }: ValidCertificates, nowMs: number): boolean {
  if (job.retriesAt !== undefined && Date.parse(job.retriesAt) > nowMs) return false;
  if (job.orderUrl !== undefined) return true;
  const issued = byId.get(job.certificateId ?? '');
  const own = issued !== undefined && covers(issued, name) ? issued : undefined;
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

/** New names before renewals, and those that fail often last. */
function rank({ certificateId, failures, orderUrl }: Job): number {
  return failures * 4 + (certificateId === undefined ? 0 : 2) + (orderUrl === undefined ? 1 : 0);
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
