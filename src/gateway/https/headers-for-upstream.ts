import { certificateFault } from '../../modules/shown-certificate.ts';
import type { HeaderList } from '../../modules/step.ts';
import { withIdentity } from '../sign-in/identity-headers.ts';
import { withCertificateFacts } from './headers/certificate-facts.ts';
import type { RequestVisit } from './request-visit.ts';

/** The headers of a request that every step has let pass, as they go on: to its backend, or to an internal endpoint. */
export function headersForUpstream({ exchange, route, identity, outgoing }: RequestVisit): HeaderList {
  const { certificate } = exchange.client;
  // Last, in place of any that a proxy or a rule has put there.
  const certified =
    (route.list.clientCa === undefined && route.list.tlsTerms?.asksForCertificate !== true) || certificate === undefined
      ? outgoing
      : // One that was only asked for says of its client what that likes.
        withCertificateFacts(
          outgoing,
          certificateFault(certificate, Date.now()) === undefined ? certificate.facts : [],
        );
  return identity === undefined ? certified : withIdentity(certified, identity);
}
