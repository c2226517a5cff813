import type { GatehouseClient, ReservedDomain, TlsCertificate } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { whyNotPublic } from '../lib/public-name.ts';
import { exitCodes } from './exit.ts';
import { findServer } from './server.ts';
import type { ServerFlags } from './server.ts';
import { formResult } from './show-result.ts';
import type { OutputFlags } from './show-result.ts';

interface ListFlags extends ServerFlags, OutputFlags {
  readonly exitCode?: boolean;
}

interface Row {
  readonly names: readonly string[];
  readonly state: 'valid' | 'ends soon' | 'ended' | 'ordered' | 'failed' | 'none';
  readonly ends?: string;
  /** Next renewal, or next attempt. */
  readonly next?: string | undefined;
  readonly id: string;
  /** The fault and its remedy, in the words of the server where it has some. */
  readonly remedy?: string;
}

const troubles: ReadonlySet<Row['state']> = new Set(['ends soon', 'ended', 'failed', 'none']);
/** The server knows since when an end is soon; before this nothing is. */
const askedWithinMs = 40 * 86_400_000;

/** Shows the certificates of the account, and the names that should have one and have none, with what to do. */
export async function runListCertificates(flags: ListFlags, host: Host): Promise<void> {
  const { client } = await findServer(flags, host);
  const certificates = await Array.fromAsync(client.list('TlsCertificatesList'));
  const domains = await Array.fromAsync(client.list('ReservedDomainsList'));
  const rows: Row[] = [];
  for (const certificate of certificates) rows.push(await rowOf(certificate, domains, client));
  for (const row of domains.flatMap(orderOf)) rows.push(row);
  for (const row of await namesWithout(certificates, domains, client)) rows.push(row);
  host.stdout.write(await formResult(rows, flags, host));
  if (flags.exitCode === true && rows.some(({ state }) => troubles.has(state))) host.exitCode = exitCodes.found;
}

async function rowOf(
  certificate: TlsCertificate,
  domains: readonly ReservedDomain[],
  client: GatehouseClient,
): Promise<Row> {
  const { id, not_after: ends } = certificate;
  const leftMs = Date.parse(ends) - Date.now();
  const warnings = leftMs > askedWithinMs ? [] : (await client.reply('TlsCertificatesGet', { path: { id } })).warnings;
  const status = domains.find((domain) => domain.certificate?.id === id)?.certificate_management_status;
  return {
    names: namesOf(certificate),
    state: leftMs <= 0 ? 'ended' : warnings.length > 0 ? 'ends soon' : 'valid',
    ends,
    next: status?.renews_at ?? undefined,
    id,
    ...(warnings.length === 0 ? {} : { remedy: warnings.join('; ') }),
  };
}

/** The order of a reserved domain that is under way or has failed. */
function orderOf({ id, domain, certificate_management_status: status }: ReservedDomain): readonly Row[] {
  const job = status?.provisioning_job;
  if (job === undefined || job === null) return [];
  const state = job.error_code === null ? 'ordered' : 'failed';
  return [{ names: [domain], state, next: job.retries_at ?? undefined, id, remedy: job.msg }];
}

/** Public names of HTTPS edges that visitors cannot trust yet. */
async function namesWithout(
  certificates: readonly TlsCertificate[],
  domains: readonly ReservedDomain[],
  client: GatehouseClient,
): Promise<readonly Row[]> {
  const valid = certificates.filter(({ not_after }) => Date.parse(not_after) > Date.now());
  const covered = new Set([...valid.flatMap(namesOf), ...domains.flatMap(orderOf).flatMap(({ names }) => names)]);
  const rows: Row[] = [];
  let isOrdering: boolean | undefined;
  for await (const { id, hostports } of client.list('HttpsEdgesList')) {
    const hosts = (hostports ?? []).map((hostport) => hostport.replace(/:\d+$/, ''));
    const names = hosts.filter((name) => whyNotPublic(name) === undefined && !isCovered(name, covered));
    if (names.length === 0) continue;
    const { warnings } = await client.reply('HttpsEdgesGet', { path: { id } });
    if (warnings.length > 0) {
      rows.push({ names, state: 'none', id, remedy: warnings.join('; ') });
      continue;
    }
    isOrdering ??= (await client.call('GatewaysList')).acme;
    const [ordered, others] = isOrdering
      ? [names.filter(isSingle), names.filter((name) => !isSingle(name))]
      : [[], names];
    if (ordered.length > 0) rows.push({ names: ordered, state: 'ordered', id, remedy: 'look again in a minute' });
    const remedy = isOrdering
      ? wildcardRemedy
      : 'upload one (gatehouse tls-certificates create), or let the server get it: GATEHOUSE_ACME=on';
    if (others.length > 0) rows.push({ names: others, state: 'none', id, remedy });
  }
  return rows;
}

const wildcardRemedy =
  'upload one (gatehouse tls-certificates create), or set GATEHOUSE_ACME_DNS_HOOK: the authority verifies a wildcard by a DNS record';

function isSingle(name: string): boolean {
  return !name.startsWith('*.');
}

function isCovered(name: string, covered: ReadonlySet<string>): boolean {
  return covered.has(name) || covered.has(`*${name.slice(name.indexOf('.'))}`);
}

function namesOf({ subject_alternative_names: { dns_names, ips } }: TlsCertificate): readonly string[] {
  return [...dns_names, ...ips];
}
