/** A resource or module that the public service has, and this one has not. */
interface HostedPath {
  readonly path: RegExp;
  readonly what: string;
  /** Advice: the thing to use here in its place. */
  readonly instead: string;
}

const signIn = 'Use the module oidc of routes: most providers that speak SAML speak OpenID Connect too.';
const edgeModule = (name: string) => new RegExp(`^/edges/(?:tcp|https|tls)/(?:\\w+/)+${name}$`);

const hostedPaths: readonly HostedPath[] = [
  { path: edgeModule('saml'), what: 'sign-in by SAML', instead: signIn },
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
    path: /^\/ai_gateway_api_keys(?:\/|$)/,
    what: 'AI gateway',
    instead: 'Send the key of a provider with the module request_headers of a route that leads there.',
  },
  {
    path: /^\/abuse_reports(?:\/|$)/,
    what: 'reports of abuse',
    instead:
      'Its operator looks after its addresses: delete the edge that must no longer serve, or stop the session of the ' +
      'agent (POST /tunnel_sessions/{id}/stop).',
  },
  {
    path: /^\/failover_backends(?:\/|$)/,
    what: 'resource of this name',
    instead: 'Failover backends are at /backends/failover.',
  },
  {
    path: /^\/weighted_backends(?:\/|$)/,
    what: 'resource of this name',
    instead: 'Weighted backends are at /backends/weighted.',
  },
];

/** Calls that people try, and what to do in their place. */
const methodAdvice: readonly { readonly method: string; readonly path: RegExp; readonly instead: string }[] = [
  {
    method: 'PUT',
    path: /^\/endpoints\/\w+$/,
    instead: 'A cloud endpoint is changed with PATCH. Endpoints of agents and edges are changed where they come from.',
  },
  { method: 'POST', path: /^\/users$/, instead: 'People are invited: POST /invitations.' },
  {
    method: 'DELETE',
    path: /^\/users\/\w+$/,
    instead: 'People are deactivated, which ends their access at once: PATCH with {"active": false}.',
  },
  {
    method: 'DELETE',
    path: /^\/tunnel_sessions\/\w+$/,
    instead: 'Sessions are stopped: POST /tunnel_sessions/{id}/stop.',
  },
];

/** Advice on a method that a path does not have. */
export function methodRemedy(method: string, path: string): string | undefined {
  return methodAdvice.find((each) => each.method === method && each.path.test(path))?.instead;
}

/** The entry for a path of the public service that is not served here. */
export function findHostedPath(path: string): HostedPath | undefined {
  return hostedPaths.find((each) => each.path.test(path));
}
