import type { Gatehouse } from '../../support/gatehouse.ts';
import { visit } from './visit.ts';

/** Fills an installation as a small company has it. Returns names and paths of views that are worth a picture. */
export async function fillInstallation(g: Gatehouse): Promise<readonly (readonly [name: string, path: string])[]> {
  const bot = await g.create('/bot_users', { name: 'deploy pipeline' });
  await g.create('/bot_users', { name: 'feed loader', active: false });
  const offices = await g.create('/ip_policies', { description: 'Offices and VPN' });
  await g.put(`/ip_policies/${offices.id}/rules`, [
    { cidr: '127.0.0.0/8', description: 'this machine' },
    { cidr: '198.51.100.0/24', description: 'Oslo' },
    { cidr: '2001:db8:40::/48', description: 'VPN' },
    '!198.51.100.66/32',
  ]);
  const feed = await g.create('/ip_policies', { description: 'Abuse feed' });
  const denied = Array.from({ length: 5000 }, (_, index) => `!198.${18 + (index >> 8)}.${index & 255}.0/24`);
  await g.put(`/ip_policies/${feed.id}/rules`, ['0.0.0.0/0', ...denied]);
  const key = await g.create('/api_keys', { description: 'CI main', owner_id: bot.id });
  await g.create('/api_keys', { description: 'Grafana', read_only: true });
  await g.create('/api_keys', { description: 'on-call runbook', expires_at: inDays(6), ip_policy_ids: [offices.id] });
  const backend = await g.create('/backends/static', { address: '10.20.4.11:8080', description: 'Orders' });
  const edge = await g.create('/edges/https', { hostports: ['orders.kestrel.example:443'], description: 'Orders' });
  await g.create(`/edges/https/${edge.id}/routes`, {
    match: '/api',
    match_type: 'path_prefix',
    backend: { backend_id: backend.id },
    ip_restriction: { ip_policy_ids: [feed.id] },
  });
  const tcp = await g.create('/edges/tcp', { description: 'Reporting replica', backend: { backend_id: backend.id } });
  const tls = await g.create('/edges/tls', {
    hostports: ['mqtt.kestrel.example:443'],
    description: 'Sensors',
    backend: { backend_id: backend.id },
    tls_termination: { min_version: '1.3' },
  });
  const restriction = await g.create('/ip_restrictions', {
    type: 'api',
    description: 'API: offices and VPN',
    ip_policy_ids: [offices.id],
  });
  await g.create('/ip_restrictions', {
    type: 'endpoints',
    description: 'Endpoints: abuse feed',
    ip_policy_ids: [feed.id],
  });
  await g.create('/reserved_domains', { domain: 'orders.kestrel.example' });
  const endpoint = await g.create('/endpoints', {
    url: 'https://orders-of-the-warehouse-in-gdansk.internal',
    description: 'Orders of the warehouse',
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny' }] }] }),
  });
  const vault = await g.create('/vaults', { name: 'payments', description: 'Keys of payment providers' });
  const secret = await g.create('/vault_secrets', {
    vault_id: vault.id,
    name: 'stripe/webhook',
    value: 'whsec_5WbX5kEW',
  });
  await g.create('/credentials', { description: 'depot Gdansk' });
  await g.get('/api_keys', { headers: { 'x-forwarded-for': '203.0.113.70' } });
  const { link } = await g.create('/invitations', { name: 'Marta', email: 'marta@example.com', role: 'viewer' });
  const { body: marta } = await g.post('/invitations/accept', { link });
  await g.create('/invitations', { name: 'Jonas', role: 'member' });
  await visit(g, edge.id, 'mirela@kestrel.example', ['ops', 'staff']);
  const { id: destination } = await g.create('/event_destinations', {
    target: { otlp: { url: 'https://collector.kestrel.example:4318' } },
  });
  await g.create('/event_destinations', { target: { syslog: { host: 'logs.kestrel.example' } }, description: 'SIEM' });
  await g.create('/event_subscriptions', {
    sources: [{ type: 'backend_down.v0' }, { type: 'backend_up.v0' }],
    destination_ids: [destination],
  });
  return [
    ['notifications-create', '/notifications?create=1'],
    ['visitors-people', '/visitors?tab=people'],
    ['user', `/users/${marta.user_id}`],
    ['user-edit', `/users/${marta.user_id}?edit=1`],
    ['user-invite', '/users?create=1'],
    ['user-deactivate', `/users?deactivate=${marta.user_id}`],
    ['api-key', `/api-keys/${key.id}`],
    ['api-key-create', '/api-keys?create=1'],
    ['api-key-edit', `/api-keys/${key.id}?edit=1`],
    ['api-key-delete', `/api-keys/${key.id}?delete=1`],
    ['api-key-rotate', `/api-keys/${key.id}?rotate=1`],
    ['bot-user', `/bot-users/${bot.id}`],
    ['bot-user-create', '/bot-users?create=1'],
    ['bot-user-edit', `/bot-users/${bot.id}?edit=1`],
    ['bot-user-delete', `/bot-users/${bot.id}?delete=1`],
    ['ip-policies-create', '/ip-policies?create=1'],
    ['ip-policy', `/ip-policies/${offices.id}`],
    ['ip-policy-edit', `/ip-policies/${offices.id}?edit=1`],
    ['ip-policy-delete', `/ip-policies/${offices.id}?delete=1`],
    ['ip-policy-feed', `/ip-policies/${feed.id}`],
    ['ip-policy-paste', `/ip-policies/${offices.id}?paste=1`],
    ['ip-restrictions-create', '/ip-restrictions?create=1'],
    ['ip-restriction', `/ip-restrictions/${restriction.id}`],
    ['ip-restriction-edit', `/ip-restrictions/${restriction.id}?edit=1`],
    ['ip-restriction-delete', `/ip-restrictions/${restriction.id}?delete=1`],
    ['https-edge', `/https-edges/${edge.id}`],
    ['endpoint', `/endpoints/${endpoint.id}`],
    ['endpoint-create', '/endpoints?create=1'],
    ['endpoint-edit', `/endpoints/${endpoint.id}?edit=1`],
    ['endpoint-delete', `/endpoints/${endpoint.id}?delete=1`],
    ['vault', `/vaults/${vault.id}`],
    ['vault-create', '/vaults?create=1'],
    ['vault-edit', `/vaults/${vault.id}?edit=1`],
    ['vault-delete', `/vaults/${vault.id}?delete=1`],
    ['vault-secrets', '/vaults?kind=secrets'],
    ['secret', `/vaults/${secret.id}`],
    ['secret-create', `/vaults/${vault.id}?create=1`],
    ['secret-edit', `/vaults/${secret.id}?edit=1`],
    ['secret-delete', `/vaults/${secret.id}?delete=1`],
    ['tcp-edge', `/tcp-edges/${tcp.id}`],
    ['tls-edge', `/tls-edges/${tls.id}`],
    ['backend', `/backends/${backend.id}`],
    ['who-gets-in-answer', '/who-gets-in?ip=203.0.113.70'],
  ];
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+Z$/, 'Z');
}
