/** One resource or module of ngrok, and what becomes of it here. */
export interface MigratedPath {
  /** The path, and others that are the same thing; at least the first is served where the resource is here. */
  readonly paths: readonly string[];
  readonly here: 'yes' | 'partly' | 'no';
  /** What is different, or what to use in its place. */
  readonly note: string;
}

const signIn = 'Use the module `oidc`, with a provider that speaks OpenID Connect.';

/** Every resource of ngrok's API, in the order of docs/migrating.md. */
export const migratedPaths: readonly MigratedPath[] = [
  { paths: ['/api_keys'], here: 'yes', note: 'Also an end, allowed sources, read-only keys and rotation.' },
  { paths: ['/bot_users', '/service_users'], here: 'yes', note: '' },
  { paths: ['/credentials'], here: 'yes', note: 'Tokens of agents.' },
  {
    paths: ['/ip_policies'],
    here: 'yes',
    note: 'A policy in use cannot be deleted. `PUT /ip_policies/{id}/rules` replaces all of its rules at once.',
  },
  { paths: ['/ip_policy_rules'], here: 'yes', note: '' },
  {
    paths: ['/ip_restrictions'],
    here: 'yes',
    note: 'Several of one type are allowed, and a change that would lock its caller out is refused (409).',
  },
  {
    paths: ['/edges/tcp'],
    here: 'yes',
    note: 'Modules `backend`, `ip_restriction` and, only here, `rate_limit`. The gateway listens on the port.',
  },
  {
    paths: ['/edges/https', '/edges/https/{edge_id}/routes'],
    here: 'yes',
    note: 'Modules of routes: `backend`, `ip_restriction`, `request_headers`, `response_headers`, `compression`, those below, and, only here, `basic_auth`, `rate_limit` (of edges too), `jwt_validation`, `redirect` and `path_rewrite`.',
  },
  {
    paths: ['/edges/tls'],
    here: 'yes',
    note: 'Modules `backend`, `ip_restriction`, `mutual_tls`, `rate_limit` and `tls_termination`. Without the last, TLS is passed on unread, and `mutual_tls` is refused.',
  },
  {
    paths: ['/backends/static'],
    here: 'yes',
    note: 'The upstream server, as the gateway reaches it. It may also have several addresses, weights and health checks.',
  },
  { paths: ['/backends/tunnel_group'], here: 'yes', note: 'Agents by their labels.' },
  { paths: ['/backends/weighted'], here: 'yes', note: 'Of backends of any kind. A change moves no open connection.' },
  {
    paths: ['/backends/failover'],
    here: 'yes',
    note: 'The next one is tried where a connection cannot be opened, or where checks found all addresses down.',
  },
  {
    paths: ['/backends/http_response'],
    here: 'yes',
    note: 'A TCP edge gives the answer too, over HTTP/1.1. Names of headers stay as they are written.',
  },
  {
    paths: ['/tls_certificates'],
    here: 'yes',
    note: 'Uploaded, or got from a public authority (`GATEHOUSE_ACME`). Other names get one of the local CA.',
  },
  {
    paths: ['/reserved_domains'],
    here: 'partly',
    note: 'Certificates that renew themselves need `GATEHOUSE_ACME=on`. There are no CNAME targets: point the name at the gateway.',
  },
  { paths: ['/reserved_addrs'], here: 'yes', note: 'A port of `GATEHOUSE_TCP_PORTS`.' },
  { paths: ['/tunnel_sessions'], here: 'yes', note: '' },
  { paths: ['/tunnels'], here: 'yes', note: '' },
  {
    paths: ['/endpoints'],
    here: 'partly',
    note: 'Endpoints of agents and edges, and cloud endpoints, public and internal ([cloud endpoints](traffic-policy.md)). Without the binding `kubernetes`.',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/traffic_policy', '/edges/https/{edge_id}/routes/{id}/policy'],
    here: 'partly',
    note: 'On TCP and TLS edges and on endpoints of agents too ([traffic policies](traffic-policy.md)). The older `policy` too. Not with what needs lists of the hosted service, such as categories of addresses; places (`conn.geo`) with a database that you bring.',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/oauth'],
    here: 'partly',
    note: 'With a client of your own at the provider; there are no shared ones. The callback is `/.gatehouse/sign-in/callback` of the host.',
  },
  { paths: ['/edges/https/{edge_id}/routes/{id}/saml'], here: 'no', note: signIn },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/oidc'],
    here: 'yes',
    note: 'More fields say who may enter; `client_secret` is never shown. The callback is `/.gatehouse/sign-in/callback` of the host.',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/webhook_verification'],
    here: 'yes',
    note: 'All providers but `sns`, `orbit` and `hostedhooks` ([webhooks.md](webhooks.md)). The secret is never shown; left out of a later write with the same provider, it stays.',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/websocket_tcp_converter'],
    here: 'yes',
    note: '',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/circuit_breaker'],
    here: 'yes',
    note: 'Each process counts for itself.',
  },
  {
    paths: ['/edges/https/{edge_id}/routes/{id}/user_agent_filter'],
    here: 'yes',
    note: 'Patterns have no look-around and no back references.',
  },
  {
    paths: ['/edges/https/{id}/mutual_tls', '/edges/tls/{id}/mutual_tls', '/certificate_authorities'],
    here: 'yes',
    note: 'Upstreams get headers with what the certificate says.',
  },
  {
    paths: ['/edges/https/{id}/tls_termination', '/edges/tls/{id}/tls_termination'],
    here: 'yes',
    note: '`min_version` is 1.2 or 1.3; older versions are not spoken.',
  },
  {
    paths: ['/event_destinations', '/event_subscriptions', '/event_sources'],
    here: 'partly',
    note: 'Changes, sessions of agents, alerts, requests, connections and sign-ins, sent as webhooks, to syslog, OpenTelemetry collectors, files and people ([events](events.md)). Requests and connections need kept decisions (`GATEHOUSE_DECISIONS`); fields cannot be chosen. The cloud services of the destinations are refused.',
  },
  {
    paths: ['/vaults', '/vault_secrets', '/vaults/{id}/secrets'],
    here: 'yes',
    note: 'Values are encrypted with `GATEHOUSE_SECRET_KEY`.',
  },
  {
    paths: ['/kubernetes_operators', '/kubernetes_operators/{id}/bound_endpoints'],
    here: 'partly',
    note: 'Without the feature `bindings`, so that no endpoint is ever bound. The calls were tried, the operator itself was not.',
  },
  {
    paths: ['/ssh_credentials', '/ssh_certificate_authorities', '/ssh_host_certificates', '/ssh_user_certificates'],
    here: 'no',
    note: 'Agents sign in with a token of `/credentials`.',
  },
  { paths: ['/agent_ingresses'], here: 'no', note: 'Agents connect to the address of `GATEHOUSE_AGENT_LISTEN`.' },
  {
    paths: ['/app/users', '/app/sessions'],
    here: 'yes',
    note: 'A session that is ended is refused at every gateway within 250 ms. Gatehouse does not look up the location of an address.',
  },
];

const words: Readonly<Record<MigratedPath['here'], string>> = { yes: 'yes', partly: 'in part', no: 'no' };

const begin = '<!-- generated from tools/migrating-table.ts: npm run generate -->';
const end = '<!-- end of what is generated -->';

/** The page with its table as the data say. */
export function withMigratingTable(page: string): string {
  const rows = migratedPaths.map(
    ({ paths, here, note }) => `| ${paths.map((path) => `\`${path}\``).join(', ')} | ${words[here]} | ${note} |`,
  );
  const table = ['| ngrok | here | what is different, or what to use |', '|---|---|---|', ...rows].join('\n');
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n\n${table}\n\n${end}${after}`;
}
