/** A resource or module that the public service has, and this one has not. */
interface HostedPath {
  readonly path: RegExp;
  readonly what: string;
  /** Advice: the thing to use here in its place. */
  readonly instead: string;
}

const trafficRules =
  'Use the modules of routes in its place: ip_restriction, basic_auth, rate_limit, request_headers, response_headers and others.';
const signIn = 'Use the module oidc of routes, with a provider that speaks OpenID Connect.';
const auditLog = 'The change log at /changes, the access log and the metrics say what happened.';
const edgeModule = (name: string) => new RegExp(`^/edges/(?:tcp|https|tls)/(?:\\w+/)+${name}$`);

const hostedPaths: readonly HostedPath[] = [
  { path: edgeModule('(?:policy|traffic_policy)'), what: 'traffic policy', instead: trafficRules },
  { path: edgeModule('saml'), what: 'sign-in at the edge', instead: signIn },
  { path: /^\/event_(?:destinations|subscriptions|sources)(?:\/|$)/, what: 'event destinations', instead: auditLog },
  {
    path: /^\/vault(?:s|_secrets)(?:\/|$)/,
    what: 'vaults',
    instead: 'Keep secrets outside, and send them where a module needs them.',
  },
  {
    path: /^\/kubernetes_operators(?:\/|$)/,
    what: 'registration of Kubernetes operators',
    instead: 'Edges, backends and IP policies can be made with any client of the API.',
  },
  {
    path: /^\/ssh_(?:credentials|certificate_authorities|host_certificates|user_certificates)(?:\/|$)/,
    what: 'SSH keys and certificates',
    instead: 'Agents sign in with a token of /credentials.',
  },
  {
    path: /^\/agent_ingresses(?:\/|$)/,
    what: 'ingress addresses of agents',
    instead: 'Agents connect to the address in the setting agent_listen.',
  },
  {
    path: /^\/ip_whitelist(?:\/|$)/,
    what: 'IP whitelist',
    instead: 'Use /ip_policies, /ip_policy_rules and /ip_restrictions.',
  },
  {
    path: /^\/endpoint_configurations(?:\/|$)/,
    what: 'endpoint configurations',
    instead: 'Use /edges/tcp, /edges/tls and /edges/https with their modules.',
  },
  {
    path: /^\/(?:ai_gateway_api_keys|abuse_reports|failover_backends|weighted_backends)(?:\/|$)/,
    what: 'such resource',
    instead: 'openapi.json lists what there is.',
  },
];

/** The entry for a path of the public service that is not served here. */
export function findHostedPath(path: string): HostedPath | undefined {
  return hostedPaths.find((each) => each.path.test(path));
}
