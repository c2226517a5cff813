import { makeCertificate } from '../../gateway/support/https-certificate.ts';
import type { Account } from './account.ts';

/** A body that makes the operation do something, with all that it stands on made in the account first. */
type MakeBody = (account: Account) => unknown;

interface ExampleBody {
  readonly make: MakeBody;
  /** The operation is no write, whatever its method says. */
  readonly reads?: true;
}

let counter = 0;
const unique = () => (counter += 1);
const description = () => ({ description: `changed ${unique()}` });
const certificate = makeCertificate('DNS:contract.test');

const backendModule: MakeBody = async (account) => ({ backend_id: (await account.make('/backends/static')).id });
const policyModule: MakeBody = async (account) => ({ ip_policy_ids: [(await account.make('/ip_policies')).id] });
const headersModule: MakeBody = () => ({ add: { 'x-made-by': `test ${unique()}` }, remove: ['x-internal'] });

/**
 * One entry for each operation of openapi.json that takes a body. References to other resources are given wherever they
 * can be: they are what another account must not be able to reach.
 */
export const exampleBodies: Readonly<Record<string, ExampleBody>> = {
  BotUsersCreate: { make: () => ({ name: `bot ${unique()}` }) },
  BotUsersUpdate: { make: () => ({ name: `renamed bot ${unique()}` }) },
  ApiKeysCreate: { make: async (account) => ({ owner_id: (await account.make('/bot_users')).id }) },
  ApiKeysUpdate: { make: description },
  IpPoliciesCreate: { make: description },
  IpPoliciesUpdate: { make: description },
  IpPolicyRulesCreate: {
    make: async (account) => ({
      cidr: `10.${unique() % 256}.0.0/16`,
      action: 'allow',
      ip_policy_id: (await account.make('/ip_policies')).id,
    }),
  },
  IpPolicyRulesUpdate: { make: description },
  IpPolicyRulesReplace: { make: () => [`10.0.${unique() % 256}.0/24`, '!192.0.2.0/24'] },
  IpRestrictionsCreate: {
    make: async (account) => ({
      type: 'agent',
      enforced: true,
      ip_policy_ids: [(await account.make('/ip_policies')).id],
    }),
  },
  IpRestrictionsUpdate: {
    make: async (account) => ({ enforced: false, ip_policy_ids: [(await account.make('/ip_policies')).id] }),
  },
  IpCheck: {
    make: async (account) => ({ ip: '203.0.113.7', edge_id: (await account.make('/edges/tcp')).id }),
    reads: true,
  },
  StaticBackendsCreate: { make: () => ({ address: 'app.internal:8080' }) },
  StaticBackendsUpdate: { make: () => ({ address: `app-${unique()}.internal:8080` }) },
  TcpEdgesCreate: {
    make: async (account) => ({ backend: await backendModule(account), ip_restriction: await policyModule(account) }),
  },
  TcpEdgesUpdate: {
    make: async (account) => ({ backend: await backendModule(account), ip_restriction: await policyModule(account) }),
  },
  TcpEdgeBackendReplace: { make: backendModule },
  TcpEdgeIpRestrictionReplace: { make: policyModule },
  HttpsEdgesCreate: { make: () => ({ hostports: [`host-${unique()}.example.com:443`] }) },
  HttpsEdgesUpdate: { make: () => ({ hostports: [`host-${unique()}.example.com:443`] }) },
  HttpsEdgeRoutesCreate: {
    make: async (account) => ({
      match_type: 'path_prefix',
      match: `/made/${unique()}`,
      backend: await backendModule(account),
      ip_restriction: await policyModule(account),
    }),
  },
  HttpsEdgeRoutesUpdate: {
    make: async (account) => ({ backend: await backendModule(account), ip_restriction: await policyModule(account) }),
  },
  HttpsEdgeRouteBackendReplace: { make: backendModule },
  HttpsEdgeRouteIpRestrictionReplace: { make: policyModule },
  HttpsEdgeRouteRequestHeadersReplace: { make: headersModule },
  HttpsEdgeRouteResponseHeadersReplace: { make: headersModule },
  HttpsEdgeRouteCompressionReplace: { make: () => ({}) },
  TlsCertificatesCreate: {
    make: () => ({ certificate_pem: certificate.certificate, private_key_pem: certificate.key, ...description() }),
  },
  TlsCertificatesUpdate: { make: description },
};
