import type { TlsCertificate } from '../../../client/src/index.ts';
import { Time } from '../components/time.tsx';
import { Verdict } from '../components/verdict.tsx';
import { certificateDays, daysUntil, formatTime } from '../lib/time.ts';

/** The host of a hostport. */
export function hostOf(hostport: string): string {
  return hostport.replace(/:\d+$/, '').toLowerCase();
}

function wildcardOf(host: string): string {
  return `*${host.slice(host.indexOf('.'))}`;
}

export function namesOf({ subject_alternative_names: { dns_names: names, ips } }: TlsCertificate): readonly string[] {
  return [...names, ...ips];
}

/**
 * The certificate that the gateway shows for a host: a valid one for the exact name, else for the wildcard, each the one
 * that ends last; an expired one only where there is no other. Undefined: one of the gateway's own authority.
 */
export function certificateFor(
  host: string,
  certificates: readonly TlsCertificate[],
  now = Date.now(),
): TlsCertificate | undefined {
  const named = (name: string): readonly TlsCertificate[] =>
    certificates.filter((each) => each.subject_alternative_names.dns_names.some((one) => one.toLowerCase() === name));
  const isValid = ({ not_before: start, not_after: end }: TlsCertificate): boolean =>
    Date.parse(start) <= now && now < Date.parse(end);
  const exact = named(host);
  const wildcard = host.startsWith('*.') ? [] : named(wildcardOf(host));
  return endsLast(exact.filter(isValid)) ?? endsLast(wildcard.filter(isValid)) ?? endsLast(exact) ?? endsLast(wildcard);
}

function endsLast(certificates: readonly TlsCertificate[]): TlsCertificate | undefined {
  return certificates.toSorted((one, other) => Date.parse(other.not_after) - Date.parse(one.not_after))[0];
}

/** The name of a certificate: its description, or the names it is for. */
export function certificateName(certificate: TlsCertificate): string {
  const { description = '', subject_common_name: common, id } = certificate;
  if (description !== '') return description;
  const [first = common === '' ? id : common, ...rest] = namesOf(certificate);
  return rest.length === 0 ? first : `${first} and ${rest.length} more`;
}

/** "Ends in 9 days", with a triangle when a person is needed. */
export function CertificateEnd({
  certificate: { not_before: start, not_after: end },
  before = '',
}: {
  readonly certificate: TlsCertificate;
  /** Stands before a date that needs nobody. */
  readonly before?: string;
}) {
  if (daysUntil(end) < 0) return <Verdict tone="deny">Ended {formatTime(end)}</Verdict>;
  if (daysUntil(start) >= 0) return <Verdict tone="warn">Valid from {formatTime(start)}</Verdict>;
  if (daysUntil(end) < certificateDays) return <Verdict tone="warn">Ends {formatTime(end)}</Verdict>;
  return (
    <>
      {before}
      <Time at={end} />
    </>
  );
}
