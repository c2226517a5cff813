import { keyMetadata, headerChanges } from './fill.ts';
import type { Gatehouse } from './gatehouse.ts';

/** Resources of a small installation, made through its API, so that any version of Gatehouse can be measured. */
export interface SmallInstallation {
  readonly keyPath: string;
  readonly tcpPort: number;
}

const keyCount = 100;

/** Creates an enforced API restriction, 100 keys, an HTTPS edge `localhost` and a TCP edge, both to the upstream. */
export async function setUp(gatehouse: Gatehouse, upstreamPort: number, tcpPort: number): Promise<SmallInstallation> {
  const policy = await restrictApi(gatehouse);
  const keys: string[] = [];
  for (let at = 0; at < keyCount; at++) {
    keys.push(await gatehouse.create('/api_keys', { description: `key ${at}`, metadata: keyMetadata }));
  }
  const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` });
  const modules = { backend: { backend_id: backend }, ip_restriction: { ip_policy_ids: [policy] } };
  const edge = await gatehouse.create('/edges/https', { hostports: ['localhost:443'] });
  await gatehouse.create(`/edges/https/${edge}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    request_headers: headerChanges,
    ...modules,
  });
  await gatehouse.create('/edges/tcp', { hostports: [`localhost:${tcpPort}`], ...modules });
  return { keyPath: `/api_keys/${keys[0]}`, tcpPort };
}

/** Creates an enforced restriction of the API that admits this machine; returns the id of its policy. */
export async function restrictApi(gatehouse: Gatehouse): Promise<string> {
  const policy = await gatehouse.create('/ip_policies', {});
  await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy, cidr: '127.0.0.0/8', action: 'allow' });
  await gatehouse.create('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [policy] });
  return policy;
}
