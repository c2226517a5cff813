import { unique } from '../../../test/contract/support/examples.ts';
import type { ExampleMaker, ResourceExamples } from '../../../test/contract/support/examples.ts';

/** Modules that name other resources: these are what another account must not be able to reach. */
const modules = async (account: ExampleMaker) => ({
  backend: { backend_id: (await account.make('/backends/static')).id },
  ip_restriction: { ip_policy_ids: [(await account.make('/ip_policies')).id] },
});

const newHostports = () => ({ hostports: [`host-${unique()}.example.com:443`] });

export const examples: ResourceExamples = {
  TcpEdgesCreate: modules,
  TcpEdgesUpdate: modules,
  // Certificates of visitors can be asked for only where TLS ends at the edge.
  TlsEdgesCreate: async (account) => ({ ...newHostports(), ...(await modules(account)), tls_termination: {} }),
  TlsEdgesUpdate: modules,
  HttpsEdgesCreate: newHostports,
  HttpsEdgesUpdate: newHostports,
  HttpsEdgeRoutesCreate: async (account) => ({
    match_type: 'path_prefix',
    match: `/made/${unique()}`,
    ...(await modules(account)),
  }),
  HttpsEdgeRoutesUpdate: modules,
};
