import { newId } from '../../../src/lib/ids.ts';
import { visitors } from '../../../src/resources/visitors/service.ts';
import type { Gatehouse } from '../../support/gatehouse.ts';

/** Tells what a gateway tells when somebody has signed in at a route of the edge. */
export async function visit(
  g: Gatehouse,
  edgeId: string,
  email: string,
  groups: readonly string[],
  userAgent = 'Mozilla/5.0',
): Promise<void> {
  const { services, store } = g.app.context;
  const [row] = await store.queries.all('SELECT account_id FROM https_edges WHERE id = $1', [edgeId]);
  const now = Math.floor(Date.now() / 1000);
  services.get(visitors).visitorSeen({
    id: newId('as'),
    accountId: String(row?.[0]),
    edgeId,
    routeId: 'edghtsrt_1',
    host: 'admin.kestrel.example',
    provider: { name: 'oidc', url: 'https://id.kestrel.example' },
    subject: email,
    email,
    name: email.split('@')[0],
    groups,
    source: '192.0.2.77',
    userAgent,
    signedInAt: now,
    seenAt: now,
    expiresAt: now + 3600,
    endsAt: now + 86_400,
  });
  await services.get(visitors).flush();
}
