import { acmeResource } from './acme/index.ts';
import { apiKeysResource } from './api-keys/index.ts';
import { certificateAuthoritiesResource } from './certificate-authorities/index.ts';
import { changesResource } from './changes/index.ts';
import { configurationResource } from './configuration/index.ts';
import { credentialsResource } from './credentials/index.ts';
import { dashboardSessionsResource } from './dashboard-sessions/index.ts';
import { failoverBackendsResource, weightedBackendsResource } from './group-backends/index.ts';
import { decisionsResource } from './decisions/index.ts';
import { alertsResource } from './alerts/index.ts';
import { eventsResource } from './events/index.ts';
import { httpResponseBackendsResource } from './http-response-backends/index.ts';
import { httpsEdgesResource } from './edges/https/index.ts';
import { tcpEdgesResource } from './edges/tcp/index.ts';
import { tlsEdgesResource } from './edges/tls/index.ts';
import { ipCheckResource } from './ip-check/index.ts';
import { ipPoliciesResource } from './ip-policies/index.ts';
import { ipPolicyRulesResource } from './ip-policy-rules/index.ts';
import { ipRestrictionsResource } from './ip-restrictions/index.ts';
import { kubernetesOperatorsResource } from './kubernetes-operators/index.ts';
import { localCaResource } from './local-ca/index.ts';
import { principalsResource } from './principals/index.ts';
import { processesResource } from './processes/index.ts';
import { quotasResource } from './quotas/index.ts';
import { rehearsalsResource } from './rehearsals/index.ts';
import { reservedAddrsResource } from './reserved-addrs/index.ts';
import { reservedDomainsResource } from './reserved-domains/index.ts';
import type { Resource } from './resource.ts';
import { ruleFindingsResource } from './rule-findings/index.ts';
import { staticBackendsResource } from './static-backends/index.ts';
import { tlsCertificatesResource } from './tls-certificates/index.ts';
import { endpointsResource } from './endpoints/index.ts';
import { trafficPolicyCheckResource } from './traffic-policy-check/index.ts';
import { inspectionsResource } from './inspections/index.ts';
import { trafficResource } from './traffic/index.ts';
import { tunnelGroupsResource } from './tunnel-group-backends/index.ts';
import { tunnelsResource } from './tunnels/index.ts';
import { vaultsResource } from './vaults/index.ts';
import { visitorsResource } from './visitors/index.ts';

/** Every resource. A new one is one folder and one line here. */
export const resources: readonly Resource[] = [
  principalsResource,
  apiKeysResource,
  credentialsResource,
  ipPoliciesResource,
  ipPolicyRulesResource,
  ipRestrictionsResource,
  localCaResource,
  staticBackendsResource,
  tunnelGroupsResource,
  httpResponseBackendsResource,
  weightedBackendsResource,
  failoverBackendsResource,
  certificateAuthoritiesResource,
  tcpEdgesResource,
  httpsEdgesResource,
  tlsEdgesResource,
  tlsCertificatesResource,
  reservedDomainsResource,
  acmeResource,
  processesResource,
  reservedAddrsResource,
  tunnelsResource,
  endpointsResource,
  kubernetesOperatorsResource,
  trafficResource,
  decisionsResource,
  inspectionsResource,
  rehearsalsResource,
  changesResource,
  ipCheckResource,
  ruleFindingsResource,
  trafficPolicyCheckResource,
  dashboardSessionsResource,
  visitorsResource,
  vaultsResource,
  eventsResource,
  alertsResource,
  configurationResource,
  // Behind the tables that it counts.
  quotasResource,
];
