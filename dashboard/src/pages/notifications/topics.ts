/** Topics that people are told of: the events that belong together, in their words. */
export interface Topic {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly types: readonly string[];
}

const kinds = [
  'account',
  'api_key',
  'bot_user',
  'certificate_authority',
  'tunnel_credential',
  'endpoint',
  'event_destination',
  'event_subscription',
  'failover_backend',
  'http_response_backend',
  'https_edge',
  'https_edge_route',
  'invitation',
  'ip_policy',
  'ip_policy_rule',
  'ip_restriction',
  'ip_restriction_decision',
  'kubernetes_operator',
  'tcp_address',
  'domain',
  'static_backend',
  'tcp_edge',
  'tls_certificate',
  'tls_edge',
  'tunnel_group_backend',
  'user',
  'vault',
  'vault_secret',
  'weighted_backend',
];

/** Every topic, in the order in which they are offered. Each type of events is in one of them. */
export const topics: readonly Topic[] = [
  {
    id: 'refusals',
    title: 'An edge refuses visitors',
    hint: 'once when it begins, and once when nobody was refused for ten minutes',
    types: ['visitors_refused.v0', 'visitors_refused_over.v0'],
  },
  {
    id: 'backends',
    title: 'A backend falls, or comes back',
    hint: 'backends with several addresses or with checks',
    types: ['backend_down.v0', 'backend_up.v0'],
  },
  {
    id: 'certificates',
    title: 'A certificate ends soon',
    hint: 'and when it was not renewed, or is replaced',
    types: ['certificate_expiring.v0', 'certificate_expiring_over.v0'],
  },
  {
    id: 'agents',
    title: 'An agent connects, or leaves',
    hint: 'also those that are connected now',
    types: ['agent_session_start.v0', 'agent_session_stop.v0'],
  },
  {
    id: 'quotas',
    title: 'A quota is nearly used up',
    hint: 'from four fifths of it on',
    types: ['quota_nearly_used.v0', 'quota_nearly_used_over.v0'],
  },
  {
    id: 'sign-ins',
    title: 'Somebody signs in to the dashboard',
    hint: 'with a token, or at your identity provider',
    types: ['operator_signed_in.v0'],
  },
  {
    id: 'visitors',
    title: 'A visitor signs in, or may not',
    hint: 'once the provider has said who it is; needs kept decisions',
    types: ['visitor_signed_in.v0', 'visitor_sign_in_refused.v0'],
  },
  {
    id: 'requests',
    title: 'Every request and connection',
    hint: 'for a collector or a server; they are too many for e-mail; needs kept decisions',
    types: ['http_request_complete.v0', 'tcp_connection_closed.v0'],
  },
  {
    id: 'changes',
    title: 'The configuration changes',
    hint: 'every change of anything, by anybody',
    types: kinds.flatMap((kind) => ['created', 'updated', 'deleted'].map((action) => `${kind}_${action}.v0`)),
  },
];

/** Names the topics of a subscription. */
export function wordsOf(types: readonly string[]): string {
  const given = new Set(types);
  const whole = topics.filter((topic) => topic.types.every((type) => given.has(type)));
  const rest = types.filter((type) => !whole.some((topic) => topic.types.includes(type)));
  const words = [...whole.map(({ title }) => title), ...rest];
  if (words.length === 0) return 'Nothing';
  return words.length <= 6 ? words.join(' · ') : `${words.slice(0, 5).join(' · ')} and ${words.length - 5} more`;
}
