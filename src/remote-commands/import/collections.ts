/** A kind of resource that is read from another server and created here. */
export interface Collection {
  /** As operation ids start: `IpPoliciesList`, `IpPoliciesCreate`. */
  readonly name: string;
  readonly noun: string;
  /** True: a copy without a field could let in more than the original, so it is not made. */
  readonly decidesAccess: boolean;
  /** Fields that are never copied, because they describe how another server works. */
  readonly leaves?: readonly string[];
}

/** In the order in which they are created: what others name comes first, and restrictions before what they restrict. */
export const collections: readonly Collection[] = [
  { name: 'BotUsers', noun: 'bot users', decidesAccess: false },
  { name: 'IpPolicies', noun: 'IP policies', decidesAccess: false },
  { name: 'IpPolicyRules', noun: 'IP policy rules', decidesAccess: true },
  { name: 'IpRestrictions', noun: 'IP restrictions', decidesAccess: true },
  { name: 'StaticBackends', noun: 'static backends', decidesAccess: false },
  { name: 'TunnelGroupBackends', noun: 'tunnel group backends', decidesAccess: false },
  { name: 'HttpResponseBackends', noun: 'HTTP response backends', decidesAccess: false },
  // In this order, because most weighted ones name failovers.
  { name: 'FailoverBackends', noun: 'failover backends', decidesAccess: false },
  { name: 'WeightedBackends', noun: 'weighted backends', decidesAccess: false },
  { name: 'CertificateAuthorities', noun: 'certificate authorities', decidesAccess: false },
  {
    name: 'ReservedDomains',
    noun: 'reserved domains',
    decidesAccess: false,
    leaves: ['certificate_management_policy', 'resolves_to'],
  },
  { name: 'TcpEdges', noun: 'TCP edges', decidesAccess: true },
  { name: 'TlsEdges', noun: 'TLS edges', decidesAccess: true },
  { name: 'HttpsEdges', noun: 'HTTPS edges', decidesAccess: true },
];

/** Routes are read with their edges. */
export const routes: Collection = { name: 'HttpsEdgeRoutes', noun: 'HTTPS edge routes', decidesAccess: true };

/** Collections that cannot be taken, with what to do instead. */
export const leftOut = [
  {
    name: 'ApiKeys',
    noun: 'API keys',
    why: 'their tokens cannot be read; make new ones with POST /api_keys',
  },
  {
    name: 'Credentials',
    noun: 'credentials of agents',
    why: 'their tokens cannot be read; make new ones with POST /credentials',
  },
  {
    name: 'TlsCertificates',
    noun: 'TLS certificates',
    why: 'their private keys cannot be read; upload them with POST /tls_certificates, then attach them to the reserved domains',
  },
  {
    name: 'ReservedAddrs',
    noun: 'reserved TCP addresses',
    why: 'the server chooses their ports; declare them in a file for "gatehouse apply" if the ports matter',
  },
] as const;
