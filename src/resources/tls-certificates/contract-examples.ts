import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';
import { makeCertificate } from '../../../test/gateway/support/https-certificate.ts';

const certificate = makeCertificate('DNS:contract.test', 'DNS:*.contract.test');

export const examples: ResourceExamples = {
  TlsCertificatesCreate: () => ({
    certificate_pem: certificate.certificate,
    private_key_pem: certificate.key,
    ...newDescription(),
  }),
  TlsCertificatesUpdate: newDescription,
};
