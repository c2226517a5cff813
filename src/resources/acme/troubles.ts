import type { Job } from '../../acme/storage.ts';
import type { ResourceContext } from '../resource.ts';
import { certificateNames } from '../tls-certificates/service.ts';
import type { CertificateTroubles } from './service.ts';
import { readJob } from './table.ts';

/** Names that one warning tells of. */
const namesInWarning = 3;
/** Characters of the words about one name. */
const longest = 500;

export function createCertificateTroubles({
  services,
  settings,
}: Pick<ResourceContext, 'services' | 'settings'>): CertificateTroubles {
  return {
    async warningFor(queries, accountId, hostnames, evenIfCovered = false) {
      if (!settings.acme.isOn) return undefined;
      const warnings: string[] = [];
      for (const hostname of hostnames) {
        if (warnings.length === namesInWarning) break;
        const own = settings.ownNames.find(hostname);
        if (own !== undefined) {
          warnings.push(`${hostname} gets no certificate: ${own.name} belongs to the installation (${own.setting})`);
          continue;
        }
        const job = await readJob(queries, accountId, hostname);
        if (job?.error === undefined) continue;
        const isCovered = await services
          .get(certificateNames)
          .isCovered(queries, accountId, hostname, job.certificateId);
        if (evenIfCovered || !isCovered) warnings.push(describe(job, job.error.message));
      }
      return warnings.length === 0 ? undefined : warnings.join(', ');
    },
  };
}

function describe({ hostname, certificateId, retriesAt }: Job, message: string): string {
  const what = certificateId === undefined ? 'has no certificate' : 'has a certificate that could not be renewed';
  const next = retriesAt === undefined ? '' : ` Next attempt: ${retriesAt}.`;
  // The words of an authority may be anything, and a header may not.
  const words = message.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, longest);
  return `${hostname} ${what}: ${words}${next}`;
}
