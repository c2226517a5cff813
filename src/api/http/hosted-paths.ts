/** A resource or module that the public service has, and this one has not. */
interface HostedPath {
  readonly path: RegExp;
  readonly what: string;
  /** Advice: the thing to use here in its place. */
  readonly instead: string;
}

const trafficRules = 'Use the modules ip_restriction, request_headers, response_headers and compression in its place.';
const signIn = 'Put a proxy that signs visitors in before the upstream server.';
const oneUpstream = 'Use a static backend (/backends/static); a balancer behind it can choose among several servers.';
const auditLog = 'The change log at /changes, the access log and the metrics say what happened.';
const edgeModule = (name: string) => new RegExp(`^/edges/(?:tcp|https|tls)/(?:\\w+/)+${name}$`);

const hostedPaths: readonly HostedPath[] = [
  { path: edgeModule('(?:policy|traffic_policy)'), what: 'traffic policy', instead: trafficRules },
  { path: edgeModule('(?:oauth|oidc|saml)'), what: 'sign-in at the edge', instead: signIn },
  {
    path: edgeModule('webhook_verification'),
    what: 'webhook verification',
    instead: 'Verify the signature in the upstream server.',
  },
  {
    path: edgeModule('websocket_tcp_converter'),
    what: 'converter from WebSocket to TCP',
    instead: 'Use a TCP edge for TCP; WebSocket passes through HTTPS edges as it is.',
  },
  {
    path: edgeModule('(?:circuit_breaker|user_agent_filter)'),
    what: 'such module of edges',
    instead: 'Agents can ask for it for their own endpoints.',
  },
  {
    path: edgeModule('(?:mutual_tls|tls_termination)'),
    what: 'TLS settings of an edge',
    instead:
      'The gateway ends TLS 1.2 and 1.3 with the certificate for the name; agents can have TLS endpoints passed on.',
  },
  {
    path: /^\/edges\/tls(?:\/|$)/,
    what: 'TLS edges',
    instead: 'Use an HTTPS edge, or a TCP edge whose upstream server speaks TLS.',
  },
  {
    path: /^\/backends\/(?:failover|weighted)(?:\/|$)/,
    what: 'backends of several servers',
    instead: oneUpstream,
  },
  {
    path: /^\/backends\/http_response(?:\/|$)/,
    what: 'backends with a fixed answer',
    instead: 'Use a static backend (/backends/static) whose server gives the answer.',
  },
  {
    path: /^\/certificate_authorities(?:\/|$)/,
    what: 'authorities for client certificates',
    instead: 'Admit clients by address: IP policies and the module ip_restriction.',
  },
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
    path: /^\/app\/(?:users|sessions)(?:\/|$)/,
    what: 'users of applications',
    instead: signIn,
  },
  {
    path: /^\/ip_whitelist(?:\/|$)/,
    what: 'IP whitelist',
    instead: 'Use /ip_policies, /ip_policy_rules and /ip_restrictions.',
  },
  {
    path: /^\/endpoint_configurations(?:\/|$)/,
    what: 'endpoint configurations',
    instead: 'Use /edges/tcp and /edges/https with their modules.',
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
