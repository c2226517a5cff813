import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

const { pem } = new ClientAuthority('example');

export const examples: ResourceExamples = {
  CertificateAuthoritiesCreate: () => ({ ca_pem: pem }),
  CertificateAuthoritiesUpdate: newDescription,
};
