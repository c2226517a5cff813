/** Draws the pictures of the README anew, from the present dashboard: `npm run build:dashboard && npx node tools/draw-pictures.ts`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openBrowser } from '../test/dashboard/support/browser.ts';
import { callFrom, watchForDays } from '../test/dashboard/support/restrictions.ts';
import { signInWithoutForm } from '../test/dashboard/support/sign-in.ts';
import { ClientAuthority } from '../test/support/client-certificates.ts';
import { Gatehouse } from '../test/support/gatehouse.ts';

const pictures = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const stranger = '203.0.113.70';
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pictures-'));
{
  await using gatehouse = await Gatehouse.start(`sqlite:${folder}/gatehouse.db`, { trustedProxies: '127.0.0.1' });
  const restrictionId = await fill(gatehouse);
  await using browser = await openBrowser();
  const context = await browser.newContext({
    baseURL: gatehouse.url,
    viewport: { width: 1280, height: 860 },
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await signInWithoutForm(page, gatehouse.url, gatehouse.token);
  for (const [name, path, text] of [
    ['who-gets-in', `/who-gets-in?ip=${stranger}`, 'Needs a certificate'],
    ['restriction', `/ip-restrictions/${restrictionId}`, 'need a decision'],
  ] as const) {
    await page.goto(`/dashboard${path}`);
    await page.getByText(text).first().waitFor();
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}
await rm(folder, { recursive: true });

/** Makes what a small company has. Returns the id of a restriction that has warned. */
async function fill(g: Gatehouse): Promise<string> {
  const offices = await g.create('/ip_policies', { description: 'Offices and VPN' });
  await g.put(`/ip_policies/${offices.id}/rules`, ['127.0.0.0/8', '198.51.100.0/24', '2001:db8:40::/48']);
  const feed = await g.create('/ip_policies', { description: 'Abuse feed' });
  await g.put(`/ip_policies/${feed.id}/rules`, ['0.0.0.0/0', '::/0', '!203.0.113.0/24']);
  const backend = await g.create('/backends/static', { address: '10.20.4.11:8080', description: 'Shop' });
  const authority = await g.create('/certificate_authorities', {
    description: 'Partners',
    ca_pem: new ClientAuthority('Partners').pem,
  });
  const edge = async (description: string, host: string, modules: object = {}, ofEdge: object = {}) => {
    const { id } = await g.create('/edges/https', { description, hostports: [`${host}:443`], ...ofEdge });
    const route = { match: '/', match_type: 'path_prefix', backend: { backend_id: backend.id }, ...modules };
    await g.create(`/edges/https/${id}/routes`, route);
  };
  await edge('Payments', 'pay.kestrel.example', {}, { mutual_tls: { certificate_authority_ids: [authority.id] } });
  await edge('Webhooks', 'hooks.kestrel.example', { webhook_verification: { provider: 'github', secret: 'a secret' } });
  const client = { issuer: 'https://id.kestrel.example', client_id: 'gatehouse', client_secret: 'a secret' };
  await edge('Grafana', 'grafana.kestrel.example', { oidc: { ...client, groups: ['ops'] } });
  await edge('Orders', 'orders.kestrel.example', { ip_restriction: { ip_policy_ids: [feed.id] } });
  await edge('Shop', 'shop.kestrel.example');
  await g.create('/edges/tcp', { description: 'Reporting replica', backend: { backend_id: backend.id } });
  const restriction = { type: 'api', description: 'API: offices and VPN', ip_policy_ids: [offices.id] };
  const { id } = await g.create('/ip_restrictions', restriction);
  for (const [ip, calls] of [
    [stranger, 12],
    ['198.18.40.9', 3],
    ['2001:db8:41:7::1a', 1],
  ] as const)
    await callFrom(g, ip, calls);
  await watchForDays(g, id);
  return String(id);
}
